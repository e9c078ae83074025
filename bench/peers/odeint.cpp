// Boost.odeint on the ensembles of bench/beside: its controlled steppers, with objects reused for every instance. odeint
// has no events: if the guard changes sign over a step, this program searches for the root, on the dense output of
// Dormand-Prince, and by steps of other sizes with the two methods that have no dense output.
//
//     peer_odeint PROBLEM dopri5 | fehlberg78 | cash_karp54 T_END SMALL
//     peer_odeint --about
//
// The program answers requests from stdin as server.hpp describes. SMALL is a comma list with one number for each state, all
// equal because odeint has one absolute tolerance: rtol times that number.
#include <array>
#include <memory>

#include <boost/math/tools/toms748_solve.hpp>
#include <boost/numeric/odeint/algebra/array_algebra.hpp>
#include <boost/numeric/odeint/stepper/controlled_runge_kutta.hpp>
#include <boost/numeric/odeint/stepper/runge_kutta_cash_karp54.hpp>
#include <boost/numeric/odeint/stepper/runge_kutta_dopri5.hpp>
#include <boost/numeric/odeint/stepper/runge_kutta_fehlberg78.hpp>
#include <boost/version.hpp>

#include "server.hpp"
#include "side.hpp"

namespace peers {
namespace {

namespace odeint = boost::numeric::odeint;

template <class Problem, template <class...> class Method>
class controlled {
 public:
  static constexpr int n = Problem::n;
  using state = std::array<double, n>;
  using method = Method<state>;
  using stepper = odeint::controlled_runge_kutta<method>;
  /// Dormand-Prince reuses its last stage as the first of the next step, and has dense output.
  static constexpr bool first_same_as_last =
      std::is_same_v<typename method::stepper_category, odeint::explicit_error_stepper_fsal_tag>;

  controlled(double t_end, double small) : t_end_(t_end), small_(small) {}

  void set_tolerance(double rtol) {
    // The derivative does not enter the tolerance, as with the other solvers.
    stepper_ = stepper(typename stepper::error_checker_type(rtol * small_, rtol, 1.0, 0.0));
    root_time_ = 1e-2 * rtol;
  }

  long solve(const double* p, double* out, long& events) {
    Problem::start(p, x_.data());
    Problem::start_mode(p, mode_);
    const auto system = [this, p](const state& x, state& dx, double t) {
      Problem::rhs(p, mode_, t, x.data(), dx.data());
    };
    events = 0;
    double t = 0, dt = first_step_;
    bool first = true;
    fresh_ = true;
    if constexpr (has_events<Problem>) side_.start(p, mode_, t, x_.data());
    system(x_, dx_, t);
    for (long steps = 1;; ++steps) {
      if (steps > 1'000'000 || !(dt > 1e-15 * t_end_)) return -1;
      if constexpr (has_events<Problem>) dt = std::min(dt, Problem::max_step);
      const bool last = t + dt >= t_end_;
      const double from = t;
      if (last) dt = t_end_ - t;
      const double tried = dt;
      if (attempt(system, t, dt) == odeint::fail) continue;
      // odeint accepts a NaN error, which occurs when a stage has left the domain of the right-hand side.
      if (!std::all_of(next_.begin(), next_.end(), [](double v) { return std::isfinite(v); })) {
        t = from;
        dt = tried / 4;
        continue;
      }
      // The next instance starts with the step size of this one.
      if (first && !last) first_step_ = tried;
      first = false;
      if constexpr (has_events<Problem>)
        if (side_.left(Problem::guard(p, mode_, t, next_.data()))) {
          t = land(system, p, from, tried);
          Problem::transition(p, mode_, t, x_.data());
          side_.after_event();
          fresh_ = true;
          ++events;
          system(x_, dx_, t);
          dt = tried;
          if (t < t_end_) continue;
          next_ = x_;
        }
      if (last) {
        Problem::output(p, next_.data(), out);
        return steps;
      }
      x_ = next_;
      fresh_ = false;
      if constexpr (first_same_as_last) dx_ = dx_next_;
      else system(x_, dx_, t);
    }
  }

 private:
  auto attempt(const auto& system, double& t, double& dt) {
    if constexpr (first_same_as_last) return stepper_.try_step(system, x_, dx_, t, next_, dx_next_, dt);
    else return stepper_.try_step(system, x_, dx_, t, next_, dt);
  }

  /// Moves x_ from the start of a step of size h past its root; returns the time of the root.
  double land(const auto& system, const double* p, double from, double h) {
    state at = next_;
    const auto look = [&](double theta) {
      if constexpr (first_same_as_last)
        stepper_.stepper().calc_state(from + theta * h, at, x_, dx_, from, next_, dx_next_, from + h);
      else stepper_.stepper().do_step(system, x_, dx_, from, at, theta * h);
      return Problem::guard(p, mode_, from + theta * h, at.data());
    };
    const double g0 = Problem::guard(p, mode_, from, x_.data()), g1 = Problem::guard(p, mode_, from + h, next_.data());
    double theta = 1;
    if (g1 != 0) {
      // After an event the guard is zero up to rounding, and clearly on its side a little later.
      double low = 0, at_low = g0;
      if (fresh_ || side_.left(g0)) {
        double away = 1e-6, g = look(away);
        while (side_.left(g0) && side_.left(g) && away < 0.1) away *= 8, g = look(away);
        if (!side_.left(g)) low = away, at_low = g;
      }
      if (side_.left(at_low)) theta = low;
      else {
        boost::uintmax_t tries = 100;
        const double near = root_time_ * std::max(1.0, from) / h;
        const auto found = boost::math::tools::toms748_solve(
            look, low, 1.0, at_low, g1, [near](double a, double b) { return std::abs(b - a) < near; }, tries);
        theta = found.second;
      }
    }
    look(theta);
    x_ = at;
    return from + theta * h;
  }
  double t_end_, small_, first_step_ = 1e-3, root_time_ = 0;
  stepper stepper_;
  state x_{}, dx_{}, next_{}, dx_next_{};
  double mode_[Problem::modes + 1] = {};
  side<Problem> side_;
  bool fresh_ = false;  ///< no step since the start or the last event
};

template <class Problem, template <class...> class Method>
void serve_with(double t_end, const std::vector<double>& small) {
  if (small.size() != Problem::outputs || std::count(small.begin(), small.end(), small[0]) != Problem::outputs)
    throw std::runtime_error("the same SMALL for each state");
  const auto solver = std::make_unique<controlled<Problem, Method>>(t_end, small[0]);
  serve_instances<Problem>(*solver);
}

void run(int argc, char** argv) {
  if (argc == 2 && std::string(argv[1]) == "--about") {
    std::printf("{\"version\": \"%d.%d.%d\", \"compiler\": \"%s\"}\n", BOOST_VERSION / 100000,
                BOOST_VERSION / 100 % 1000, BOOST_VERSION % 100, compiler);
    return;
  }
  if (argc != 5) throw std::runtime_error("usage: peer_odeint PROBLEM METHOD T_END SMALL");
  const std::string name = argv[1], method = argv[2];
  const double t_end = std::stod(argv[3]);
  const auto small = numbers(argv[4]);
  const bool known = with_problem(name, [&]<class Problem>(Problem) {
    if constexpr (!is_stiff<Problem>) {
      if (method == "dopri5") serve_with<Problem, odeint::runge_kutta_dopri5>(t_end, small);
      else if (method == "fehlberg78") serve_with<Problem, odeint::runge_kutta_fehlberg78>(t_end, small);
      else if (method == "cash_karp54") serve_with<Problem, odeint::runge_kutta_cash_karp54>(t_end, small);
      else throw std::runtime_error("no method " + method);
    } else throw std::runtime_error("not for stiff problems");
  });
  if (!known) throw std::runtime_error("no problem " + name);
}

}  // namespace
}  // namespace peers

int main(int argc, char** argv) {
  return peers::guarded("peer_odeint", [&] { peers::run(argc, argv); });
}
