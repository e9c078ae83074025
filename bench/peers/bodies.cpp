// IDA of SUNDIALS on mechanical ensembles (bench/peers/bodies.py), in the stabilised form of index 2 of C. W. Gear, B. Leimkuhler
// and G. K. Gupta, 1985:
//
//     q' = v + J' mu,   M v' = f + J' lambda,   0 = Phi(q),   0 = J v
//
// One solver object is re-initialised for every instance and after every event. Mass matrix, forces, constraints and guards
// are those of the saltus model, compiled in; the Jacobian comes from dual numbers; consistent derivatives and multipliers at
// a start are given. Algebraic variables are left out of the error test, as IDA's manual advises for this form.
//
//     peer_bodies PROBLEM T_END
//     peer_bodies --about
//
// The program answers requests from stdin as server.hpp describes; atol equals rtol.
#include <memory>

#include <ida/ida.h>
#include <nvector/nvector_serial.h>
#include <sundials/sundials_context.h>
#include <sunlinsol/sunlinsol_dense.h>
#include <sunmatrix/sunmatrix_dense.h>

#include "../../problems/compound_pendulum.hpp"
#include "../../problems/hmmwv7p.hpp"
#include "../../problems/slack_pendulum.hpp"
#include "form/of_model.hpp"
#include "saltus.hpp"
#include "server.hpp"

namespace peers {
namespace {

using saltus::vec;
using real = saltus::pack<double, 1>;

void check(int flag, const char* what) {
  if (flag < 0) throw std::runtime_error(std::string(what) + " failed");
}
void silent(int, const char*, const char*, char*, void*) {}

/// A saltus model at one instance.
template <class Model>
struct at_instance {
  using bodies = saltus::mechanics<Model>;
  using functions = saltus::form_of<Model>;
  static constexpr int k = bodies::velocities, m = bodies::constraints, n = 2 * k + 2 * m, guards = functions::guards;
  static_assert(bodies::coordinates == k && bodies::quaternions == 0 && !bodies::any_nonholonomic);

  typename functions::template step_constants<real> c;

  template <class Value>
  static auto state_of(const Value* y) {
    vec<Value, 2 * k> s;
    for (int i = 0; i < 2 * k; ++i) s[i] = y[i];
    return s;
  }

  /// Residual r of the form above; constraints that are off have the equation mu = lambda = 0 instead.
  template <class Value>
  void residual(const Value& t, const Value* y, const Value* dy, Value* r) const {
    const auto s = state_of(y);
    const auto at = functions::point_of_bodies(t, s, c);
    const auto rows = bodies::jacobian_at(at);
    const auto levels = bodies::levels_at(at);
    const auto mass = bodies::mass(at);
    const auto f = bodies::force(at);
    const Value *mu = y + 2 * k, *lambda = mu + m;
    for (int i = 0; i < k; ++i) {
      r[i] = dy[i] - y[k + i];
      r[k + i] = -f[i];
      for (int j = 0; j < k; ++j) r[k + i] = r[k + i] + (j < i ? mass[i][j] : mass[j][i]) * dy[k + j];
    }
    for (int l = 0; l < m; ++l) {
      const bool on = bool(bodies::is_on(at, l));
      r[2 * k + l] = on ? levels.position[l] : mu[l];
      r[2 * k + m + l] = on ? levels.velocity[l] : lambda[l];
      for (int i = 0; i < k && on; ++i) {
        r[i] = r[i] - rows.by[l][i] * mu[l];
        r[k + i] = r[k + i] - rows.by[l][i] * lambda[l];
      }
    }
  }

  /// dr/dy + alpha dr/dy'.
  template <class Entries>
  void jacobian(double t, double alpha, const double* y, const double* dy, Entries&& entry) const {
    constexpr int width = 8;
    using seeds = saltus::dual<real, width>;
    std::vector<seeds> at(n), rate(n), r(n);
    for (int first = 0; first < n; first += width) {
      for (int i = 0; i < n; ++i) {
        at[static_cast<std::size_t>(i)] = seeds(real(y[i]));
        rate[static_cast<std::size_t>(i)] = seeds(real(dy[i]));
        if (i < first || i >= first + width) continue;
        at[static_cast<std::size_t>(i)].d[i - first] = real(1.0);
        rate[static_cast<std::size_t>(i)].d[i - first] = real(alpha);
      }
      residual(seeds(real(t)), at.data(), rate.data(), r.data());
      for (int j = first; j < std::min(first + width, n); ++j)
        for (int i = 0; i < n; ++i) entry(i, j) = r[static_cast<std::size_t>(i)].d[j - first].v;
    }
  }

  /// Completes dy with the derivatives and y with the multipliers that belong to the positions and velocities in y.
  void complete(double t, double* y, double* dy) const {
    vec<real, 2 * k> s;
    for (int i = 0; i < 2 * k; ++i) s[i] = y[i];
    const auto at = functions::point_of_bodies(real(t), s, c);
    const auto& motion = motion_of(at);
    for (int i = 0; i < k; ++i) {
      dy[i] = y[k + i];
      dy[k + i] = motion.acceleration[i].v;
    }
    for (int l = 0; l < m; ++l) {
      y[2 * k + l] = dy[2 * k + l] = dy[2 * k + m + l] = 0.0;
      y[2 * k + m + l] = motion.multiplier[l].v;
    }
  }

  void guards_at(double t, const double* y, double* g) const {
    vec<real, 2 * k> s;
    for (int i = 0; i < 2 * k; ++i) s[i] = y[i];
    const auto values = functions::guard_values(real(t), s, c);
    for (int i = 0; i < guards; ++i) g[i] = values[i].v;
  }

  void start(double* y) {
    using saltus::detail::defaults_of;
    constexpr auto parameters = defaults_of<functions::params>(Model::parameter_list);
    for (int i = 0; i < functions::params; ++i) c.p[i] = parameters.of[i];
    if constexpr (functions::discretes > 0) {
      constexpr auto modes = defaults_of<functions::discretes>(Model::discrete_list);
      for (int i = 0; i < functions::discretes; ++i) c.d[i] = modes.of[i];
    }
    constexpr auto states = defaults_of<2 * k>(Model::state_list);
    for (int i = 0; i < 2 * k; ++i) y[i] = states.of[i];
  }
  /// Applies the model's `initial` to the parameters.
  void initial(double* y) {
    vec<real, 2 * k> s;
    for (int i = 0; i < 2 * k; ++i) s[i] = y[i];
    saltus::start<Model, real> at{real(0.0), s, c.p, c.d};
    Model::initial(at);
    for (int i = 0; i < 2 * k; ++i) y[i] = s[i].v;
  }
};

/// Parameters that vary, and the transition at the root of guard i passed in this direction.
struct pendulum {
  using Model = ::compound_pendulum;
  static constexpr const char* name = "compound_pendulum";
  static constexpr int varied[] = {Model::length, Model::friction};
  static constexpr int direction[] = {0};
  static void event(auto&, double*, int, int) {}
};

struct vehicle {
  using Model = ::hmmwv7p;
  static constexpr const char* name = "hmmwv7p";
  static constexpr int varied[] = {Model::bushing, Model::speed};
  static constexpr int direction[] = {0, 0, 0, 0, 0, 0};
  static void event(auto& c, double*, int guard, int way) {
    const int axle = guard % Model::axles;
    if (guard < Model::ends) c.d[Model::on_bump + axle] = way > 0 ? 1.0 : 0.0;
    else if (guard < Model::pressing) c.d[Model::on_bump + axle] = way > 0 ? 0.0 : 1.0;
    else c.d[Model::pressed + axle] = way > 0 ? 1.0 : 0.0;
  }
};

struct rope {
  using Model = ::slack_pendulum;
  static constexpr const char* name = "slack_pendulum";
  static constexpr int varied[] = {Model::length, Model::speed};
  static constexpr int direction[] = {-1, -1};
  /// A pull removes the whole speed along the rope: restitution is zero.
  static void event(auto& c, double* y, int guard, int) {
    c.d[Model::taut] = guard == Model::pull ? 1.0 : 0.0;
    if (guard != Model::pull) return;
    const double square = y[0] * y[0] + y[1] * y[1], along = (y[0] * y[2] + y[1] * y[3]) / square;
    for (int i = 0; i < 2; ++i) {
      y[2 + i] -= along * y[i];
      y[i] *= c.p[Model::length].v / std::sqrt(square);
    }
  }
};

template <class Ensemble>
class stabilised {
 public:
  using Model = typename Ensemble::Model;
  using system = at_instance<Model>;
  static constexpr int n = system::n, guards = system::guards;

  explicit stabilised(double t_end) : t_end_(t_end) {
    check(SUNContext_Create(nullptr, &context_), "SUNContext_Create");
    y_ = N_VNew_Serial(n, context_);
    dy_ = N_VNew_Serial(n, context_);
    differential_ = N_VNew_Serial(n, context_);
    for (int i = 0; i < n; ++i) NV_Ith_S(differential_, i) = i < 2 * system::k ? 1.0 : 0.0;
    matrix_ = SUNDenseMatrix(n, n, context_);
    solver_ = SUNLinSol_Dense(y_, matrix_, context_);
    memory_ = IDACreate(context_);
    check(IDAInit(memory_, residual, 0.0, y_, dy_), "IDAInit");
    IDASetErrHandlerFn(memory_, silent, nullptr);
    IDASetUserData(memory_, this);
    IDASetMaxNumSteps(memory_, 100'000);
    IDASetId(memory_, differential_);
    IDASetSuppressAlg(memory_, SUNTRUE);
    check(IDASStolerances(memory_, 1e-6, 1e-6), "IDASStolerances");
    check(IDASetLinearSolver(memory_, solver_, matrix_), "IDASetLinearSolver");
    check(IDASetJacFn(memory_, jacobian), "IDASetJacFn");
    if constexpr (guards > 0) {
      check(IDARootInit(memory_, guards, roots), "IDARootInit");
      int directions[guards];
      std::copy_n(Ensemble::direction, guards, directions);
      IDASetRootDirection(memory_, directions);
      IDASetNoInactiveRootWarn(memory_);
    }
  }
  stabilised(const stabilised&) = delete;
  stabilised& operator=(const stabilised&) = delete;
  ~stabilised() {
    IDAFree(&memory_);
    SUNLinSolFree(solver_);
    SUNMatDestroy(matrix_);
    N_VDestroy(y_), N_VDestroy(dy_), N_VDestroy(differential_);
    SUNContext_Free(&context_);
  }

  void set_tolerance(double rtol) { check(IDASStolerances(memory_, rtol, rtol), "IDASStolerances"); }

  long solve(const double* p, double* out, long& events) {
    at_.start(NV_DATA_S(y_));
    for (std::size_t i = 0; i < std::size(Ensemble::varied); ++i) at_.c.p[Ensemble::varied[i]] = p[i];
    at_.initial(NV_DATA_S(y_));
    events = 0;
    double t = 0;
    for (long steps = 0;;) {
      at_.complete(t, NV_DATA_S(y_), NV_DATA_S(dy_));
      IDAReInit(memory_, t, y_, dy_);
      IDASetStopTime(memory_, t_end_);
      const int flag = IDASolve(memory_, t_end_, &t, y_, dy_, IDA_NORMAL);
      if (flag < 0) return -1;
      long accepted = 0, refused = 0;
      IDAGetNumSteps(memory_, &accepted);
      IDAGetNumErrTestFails(memory_, &refused);
      steps += accepted + refused;
      if (flag != IDA_ROOT_RETURN) {
        std::copy_n(NV_DATA_S(y_), 2 * system::k, out);
        return steps;
      }
      take_events(events);
    }
  }

 private:
  void take_events(long& events) {
    if constexpr (guards > 0) {
      int found[guards];
      IDAGetRootInfo(memory_, found);
      for (int i = 0; i < guards; ++i)
        if (found[i] != 0) {
          ++events;
          Ensemble::event(at_.c, NV_DATA_S(y_), i, found[i]);
        }
    }
  }

  static const system& of(void* self) { return static_cast<stabilised*>(self)->at_; }
  static int residual(double t, N_Vector y, N_Vector dy, N_Vector r, void* self) {
    const double *from = NV_DATA_S(y), *rate = NV_DATA_S(dy);
    real at[n], slope[n], left[n];
    for (int i = 0; i < n; ++i) at[i] = from[i], slope[i] = rate[i];
    of(self).residual(real(t), at, slope, left);
    double sum = 0;
    for (int i = 0; i < n; ++i) sum += NV_Ith_S(r, i) = left[i].v;
    return std::isfinite(sum) ? 0 : 1;
  }
  static int jacobian(double t, double alpha, N_Vector y, N_Vector dy, N_Vector, SUNMatrix m, void* self, N_Vector,
                      N_Vector, N_Vector) {
    of(self).jacobian(t, alpha, NV_DATA_S(y), NV_DATA_S(dy),
                      [data = SM_DATA_D(m)](int row, int column) -> double& { return data[column * n + row]; });
    return 0;
  }
  static int roots(double t, N_Vector y, N_Vector, double* g, void* self) {
    of(self).guards_at(t, NV_DATA_S(y), g);
    return 0;
  }

  SUNContext context_ = nullptr;
  N_Vector y_, dy_, differential_;
  SUNMatrix matrix_;
  SUNLinearSolver solver_;
  system at_;
  double t_end_;
  void* memory_ = nullptr;
};

/// Interface that serve_instances needs from a problem.
template <class Ensemble>
struct sizes {
  static constexpr std::size_t outputs = 2 * at_instance<typename Ensemble::Model>::k;
  static constexpr std::size_t parameters = std::size(Ensemble::varied);
};

template <class Ensemble>
bool serve_if(const std::string& name, double t_end) {
  if (name != Ensemble::name) return false;
  const auto solver = std::make_unique<stabilised<Ensemble>>(t_end);
  serve_instances<sizes<Ensemble>>(*solver);
  return true;
}

void run(int argc, char** argv) {
  if (argc == 2 && std::string(argv[1]) == "--about") {
    std::printf("{\"version\": \"%s\", \"compiler\": \"%s\"}\n", SUNDIALS_VERSION, compiler);
    return;
  }
  if (argc != 3) throw std::runtime_error("usage: peer_bodies PROBLEM T_END");
  const double t_end = std::stod(argv[2]);
  if (!serve_if<pendulum>(argv[1], t_end) && !serve_if<vehicle>(argv[1], t_end) && !serve_if<rope>(argv[1], t_end))
    throw std::runtime_error(std::string("no problem ") + argv[1]);
}

}  // namespace
}  // namespace peers

int main(int argc, char** argv) {
  return peers::guarded("peer_bodies", [&] { peers::run(argc, argv); });
}
