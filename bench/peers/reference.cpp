// The references for the solvers of bench/beside, in long double: the closed form if a problem has one, Radau IIA of order 13 on stiff
// problems, extrapolation of order 18 on the others. None shares code with saltus.
//
//     peer_reference PROBLEM T_END SMALL
//
// The program answers requests from stdin as server.hpp describes; RTOL is the tolerance of a step.
#include <memory>

#include "extrapolation.hpp"
#include "radau.hpp"
#include "server.hpp"

namespace peers {
namespace {

template <class Problem>
class reference {
 public:
  reference(double t_end, std::vector<double> small) : t_end_(t_end), small_(std::move(small)) {}
  void set_tolerance(double rtol) { rtol_ = rtol; }
  long solve(const double* p, double* out, long& events) {
    long double y[Problem::n], all[Problem::outputs];
    if constexpr (requires { Problem::solution(p, 0.0L, y, events); }) {
      Problem::solution(p, t_end_, y, events);
    } else if constexpr (is_stiff<Problem>) {
      if (!solver_.solve(p, t_end_, rtol_, small_.data(), y)) return -1;
    } else if (!solver_.solve(p, t_end_, rtol_, small_.data(), y, events)) return -1;
    Problem::output(p, y, all);
    std::copy(all, all + Problem::outputs, out);
    return solver_.steps;
  }

 private:
  std::conditional_t<is_stiff<Problem>, radau<Problem>, extrapolation<Problem>> solver_;

  double t_end_, rtol_ = 0;
  std::vector<double> small_;
};

void run(int argc, char** argv) {
  if (argc != 4) throw std::runtime_error("usage: peer_reference PROBLEM T_END SMALL");
  const auto small = numbers(argv[3]);
  const bool known = with_problem(argv[1], [&]<class Problem>(Problem) {
    if (small.size() != Problem::outputs) throw std::runtime_error("a SMALL for each state");
    const auto solver = std::make_unique<reference<Problem>>(std::stod(argv[2]), small);
    serve_instances<Problem>(*solver);
  });
  if (!known) throw std::runtime_error(std::string("no problem ") + argv[1]);
}

}  // namespace
}  // namespace peers

int main(int argc, char** argv) {
  return peers::guarded("peer_reference", [&] { peers::run(argc, argv); });
}
