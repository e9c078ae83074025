// SUNDIALS on the ensembles of bench/stiff: CVODE's BDF and IDA, each with dense LU and the analytic Jacobian, one solver
// object that is re-initialised for every instance. And the reference that all solvers are held against (radau.hpp).
//
//     stiff_sundials PROBLEM cvode | ida | reference T_END SMALL...
//     stiff_sundials --about
//
// Answers requests from stdin as server.hpp says; atol of state i is rtol times the i-th SMALL.
#include <cvode/cvode.h>
#include <ida/ida.h>
#include <nvector/nvector_serial.h>
#include <sundials/sundials_context.h>
#include <sunlinsol/sunlinsol_dense.h>
#include <sunmatrix/sunmatrix_dense.h>

#include <algorithm>
#include <memory>

#include "radau.hpp"
#include "server.hpp"
#include "stiff_problems.hpp"

namespace peers {
namespace {

#if defined(__clang__)
constexpr const char* compiler = "clang " __clang_version__;
#else
constexpr const char* compiler = "GCC " __VERSION__;
#endif

constexpr long max_steps = 1'000'000;

void check(int flag, const char* what) {
  if (flag < 0) throw std::runtime_error(std::string(what) + " failed");
}
void silent(int, const char*, const char*, char*, void*) {}

/// What CVODE and IDA share: vectors, the matrix and its solver.
template <int N>
class workspace {
 public:
  explicit workspace(const std::vector<double>& small) : small_(small) {
    check(SUNContext_Create(nullptr, &context), "SUNContext_Create");
    y         = N_VNew_Serial(N, context);
    dy        = N_VNew_Serial(N, context);
    tolerance = N_VNew_Serial(N, context);
    matrix    = SUNDenseMatrix(N, N, context);
    solver    = SUNLinSol_Dense(y, matrix, context);
  }
  workspace(const workspace&)            = delete;
  workspace& operator=(const workspace&) = delete;
  ~workspace() {
    SUNLinSolFree(solver);
    SUNMatDestroy(matrix);
    N_VDestroy(y), N_VDestroy(dy), N_VDestroy(tolerance);
    SUNContext_Free(&context);
  }
  void set_tolerance(double rtol) {
    for (int i = 0; i < N; ++i) NV_Ith_S(tolerance, i) = rtol * small_[static_cast<std::size_t>(i)];
  }

  SUNContext      context = nullptr;
  N_Vector        y, dy, tolerance;
  SUNMatrix       matrix;
  SUNLinearSolver solver;

 private:
  std::vector<double> small_;
};

/// A dense matrix addressed by row and column; its columns lie one after the other.
template <int N>
auto entries(SUNMatrix m) {
  return [data = SM_DATA_D(m)](int row, int column) -> double& { return data[column * N + row]; };
}

template <class Problem>
class cvode {
 public:
  static constexpr int n = Problem::n;

  cvode(double t_end, const std::vector<double>& small) : work_(small), t_end_(t_end) {
    memory_                                = CVodeCreate(CV_BDF, work_.context);
    const double none[Problem::parameters] = {};
    Problem::start(none, NV_DATA_S(work_.y));
    check(CVodeInit(memory_, rhs, 0.0, work_.y), "CVodeInit");
    CVodeSetErrHandlerFn(memory_, silent, nullptr);
    CVodeSetMaxNumSteps(memory_, max_steps);
    work_.set_tolerance(1e-6);
    check(CVodeSVtolerances(memory_, 1e-6, work_.tolerance), "CVodeSVtolerances");
    check(CVodeSetLinearSolver(memory_, work_.solver, work_.matrix), "CVodeSetLinearSolver");
    check(CVodeSetJacFn(memory_, jacobian), "CVodeSetJacFn");
  }
  ~cvode() { CVodeFree(&memory_); }
  cvode(const cvode&)            = delete;
  cvode& operator=(const cvode&) = delete;

  void set_tolerance(double rtol) {
    work_.set_tolerance(rtol);
    check(CVodeSVtolerances(memory_, rtol, work_.tolerance), "CVodeSVtolerances");
  }
  /// One instance; `out` as Problem::output. The number of steps, -1 for a failure.
  long solve(const double* p, double* out) {
    double* y = NV_DATA_S(work_.y);
    Problem::start(p, y);
    CVodeSetUserData(memory_, const_cast<double*>(p));
    CVodeReInit(memory_, 0.0, work_.y);
    CVodeSetStopTime(memory_, t_end_);
    double t = 0;
    if (CVode(memory_, t_end_, work_.y, &t, CV_NORMAL) < 0) return -1;
    Problem::output(p, y, out);
    long accepted = 0, refused = 0;
    CVodeGetNumSteps(memory_, &accepted);
    CVodeGetNumErrTestFails(memory_, &refused);
    return accepted + refused;
  }

 private:
  static int rhs(double, N_Vector y, N_Vector dy, void* p) {
    Problem::template rhs<double>(static_cast<const double*>(p), NV_DATA_S(y), NV_DATA_S(dy));
    return 0;
  }
  /// The matrix comes zeroed.
  static int jacobian(double, N_Vector y, N_Vector, SUNMatrix m, void* p, N_Vector, N_Vector, N_Vector) {
    Problem::template jacobian<double>(static_cast<const double*>(p), NV_DATA_S(y), entries<n>(m));
    return 0;
  }

  workspace<n> work_;
  double       t_end_;
  void*        memory_ = nullptr;
};

template <class Problem>
class ida {
 public:
  using dae              = typename Problem::dae;
  static constexpr int n = dae::n;

  ida(double t_end, const std::vector<double>& small) : work_(small), t_end_(t_end) {
    memory_                                = IDACreate(work_.context);
    const double none[Problem::parameters] = {};
    dae::start(none, NV_DATA_S(work_.y), NV_DATA_S(work_.dy));
    check(IDAInit(memory_, residual, 0.0, work_.y, work_.dy), "IDAInit");
    IDASetErrHandlerFn(memory_, silent, nullptr);
    IDASetMaxNumSteps(memory_, max_steps);
    work_.set_tolerance(1e-6);
    check(IDASVtolerances(memory_, 1e-6, work_.tolerance), "IDASVtolerances");
    check(IDASetLinearSolver(memory_, work_.solver, work_.matrix), "IDASetLinearSolver");
    check(IDASetJacFn(memory_, jacobian), "IDASetJacFn");
  }
  ~ida() { IDAFree(&memory_); }
  ida(const ida&)            = delete;
  ida& operator=(const ida&) = delete;

  void set_tolerance(double rtol) {
    work_.set_tolerance(rtol);
    check(IDASVtolerances(memory_, rtol, work_.tolerance), "IDASVtolerances");
  }
  long solve(const double* p, double* out) {
    dae::start(p, NV_DATA_S(work_.y), NV_DATA_S(work_.dy));
    IDASetUserData(memory_, const_cast<double*>(p));
    IDAReInit(memory_, 0.0, work_.y, work_.dy);
    IDASetStopTime(memory_, t_end_);
    double t = 0;
    if (IDASolve(memory_, t_end_, &t, work_.y, work_.dy, IDA_NORMAL) < 0) return -1;
    dae::output(p, NV_DATA_S(work_.y), out);
    long accepted = 0, refused = 0;
    IDAGetNumSteps(memory_, &accepted);
    IDAGetNumErrTestFails(memory_, &refused);
    return accepted + refused;
  }

 private:
  static int residual(double, N_Vector y, N_Vector dy, N_Vector r, void* p) {
    dae::residual(static_cast<const double*>(p), NV_DATA_S(y), NV_DATA_S(dy), NV_DATA_S(r));
    return 0;
  }
  static int jacobian(double, double c, N_Vector y, N_Vector, N_Vector, SUNMatrix m, void* p, N_Vector, N_Vector,
                      N_Vector) {
    dae::jacobian(static_cast<const double*>(p), NV_DATA_S(y), c, entries<n>(m));
    return 0;
  }

  workspace<n> work_;
  double       t_end_;
  void*        memory_ = nullptr;
};

template <class Problem>
class long_double {
 public:
  long_double(double t_end, const std::vector<double>& small) : t_end_(t_end), small_(small) {}
  void set_tolerance(double rtol) { rtol_ = rtol; }
  long solve(const double* p, double* out) {
    real y[Problem::n], all[Problem::outputs];
    if (!radau_.solve(p, t_end_, rtol_, small_.data(), y)) return -1;
    Problem::output(p, y, all);
    std::copy(all, all + Problem::outputs, out);
    return radau_.steps;
  }

 private:
  reference<Problem>  radau_;
  double              t_end_, rtol_ = 0;
  std::vector<double> small_;
};

template <class Problem, class Solver>
void serve_with(double t_end, const std::vector<double>& small) {
  if (small.size() != Problem::outputs) throw std::runtime_error("a SMALL for each state");
  const auto solver = std::make_unique<Solver>(t_end, small);
  serve([&](const request& r) {
    const auto          rows = read_table(r.table);
    std::vector<double> y(rows.size() * Problem::outputs);
    std::vector<long>   steps(rows.size());
    for (const auto& row : rows)
      if (row.size() != Problem::parameters) throw std::runtime_error(r.table + ": another number of columns");
    solver->set_tolerance(r.rtol);
    const double begin  = cpu_seconds();
    double       passed = 0;
    int          passes = 0;
    do {
      for (std::size_t i = 0; i < rows.size(); ++i) steps[i] = solver->solve(rows[i].data(), &y[i * Problem::outputs]);
      passed = cpu_seconds() - begin;
      ++passes;
    } while (passed < r.seconds);
    answer a;
    a.us = 1e6 * passed / passes / static_cast<double>(rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const double* first = &y[i * Problem::outputs];
      const bool    ok =
          steps[i] >= 0 && std::all_of(first, first + Problem::outputs, [](double v) { return std::isfinite(v); });
      a.failed += !ok;
      a.steps += static_cast<double>(std::max(steps[i], 0L)) / static_cast<double>(rows.size());
      if (r.states) a.y.emplace_back(first, ok ? first + Problem::outputs : first);
    }
    return a;
  });
}

template <class Problem>
bool try_problem(const std::string& problem, const std::string& solver, double t_end,
                 const std::vector<double>& small) {
  if (problem != Problem::name) return false;
  if (solver == "cvode") serve_with<Problem, cvode<Problem>>(t_end, small);
  else if (solver == "reference") serve_with<Problem, long_double<Problem>>(t_end, small);
  else if constexpr (requires { typename Problem::dae; }) {
    if (solver != "ida") return false;
    serve_with<Problem, ida<Problem>>(t_end, small);
  } else return false;
  return true;
}

int run(int argc, char** argv) {
  if (argc == 2 && std::string(argv[1]) == "--about") {
    std::printf("{\"sundials\": \"%s\", \"compiler\": \"%s\"}\n", SUNDIALS_VERSION, compiler);
    return 0;
  }
  if (argc < 5) throw std::runtime_error("usage: stiff_sundials PROBLEM cvode | ida | reference T_END SMALL...");
  const std::string   problem = argv[1], solver = argv[2];
  const double        t_end = std::stod(argv[3]);
  std::vector<double> small;
  for (int i = 4; i < argc; ++i) small.push_back(std::stod(argv[i]));
  const auto tried = [&]<class... P>() { return (try_problem<P>(problem, solver, t_end, small) || ...); };
  if (!tried.template operator()<robertson, van_der_pol, hires, chemical_akzo>())
    throw std::runtime_error("no " + solver + " for " + problem);
  return 0;
}

}  // namespace
}  // namespace peers

int main(int argc, char** argv) {
  try {
    return peers::run(argc, argv);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "stiff_sundials: %s\n", e.what());
    return 1;
  }
}
