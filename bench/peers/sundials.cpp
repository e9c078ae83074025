// SUNDIALS on the ensembles of bench/beside, one solver object re-initialised for every instance: CVODE with Adams
// formulas and fixed-point iteration, or with BDF, dense LU and (on stiff problems) the analytic Jacobian; ARKODE's
// explicit Runge-Kutta methods; IDA on problems that are DAEs. Events use their own root finding.
//
//     peer_sundials PROBLEM METHOD T_END SMALL
//     peer_sundials --about
//
// METHOD: adams, bdf, ida, or one of the explicit methods below. The program answers requests from stdin as server.hpp
// describes; atol of state i is rtol times entry i of the comma list SMALL.
#include <memory>

#include <arkode/arkode_erkstep.h>
#include <cvode/cvode.h>
#include <ida/ida.h>
#include <nvector/nvector_serial.h>
#include <sundials/sundials_context.h>
#include <sunlinsol/sunlinsol_dense.h>
#include <sunmatrix/sunmatrix_dense.h>
#include <sunnonlinsol/sunnonlinsol_fixedpoint.h>

#include "problems.hpp"
#include "server.hpp"

namespace peers {
namespace {

constexpr long max_steps = 1'000'000;

struct explicit_method {
  const char* name;
  ARKODE_ERKTableID table;
};
constexpr explicit_method explicit_methods[] = {
    {"bogacki_shampine", ARKODE_BOGACKI_SHAMPINE_4_2_3},
    {"cash_karp", ARKODE_CASH_KARP_6_4_5},
    {"fehlberg", ARKODE_FEHLBERG_6_4_5},
    {"dormand_prince", ARKODE_DORMAND_PRINCE_7_4_5},
    {"verner", ARKODE_VERNER_8_5_6},
    {"fehlberg_8", ARKODE_FEHLBERG_13_7_8},
};

void check(int flag, const char* what) {
  if (flag < 0) throw std::runtime_error(std::string(what) + " failed");
}
void silent(int, const char*, const char*, char*, void*) {}

/// Vectors and tolerances, common to all solvers.
template <int N>
class workspace {
 public:
  explicit workspace(const std::vector<double>& small) : small_(small) {
    check(SUNContext_Create(nullptr, &context), "SUNContext_Create");
    y = N_VNew_Serial(N, context);
    dy = N_VNew_Serial(N, context);
    tolerance = N_VNew_Serial(N, context);
  }
  workspace(const workspace&) = delete;
  workspace& operator=(const workspace&) = delete;
  ~workspace() {
    N_VDestroy(y), N_VDestroy(dy), N_VDestroy(tolerance);
    SUNContext_Free(&context);
  }
  void set_tolerance(double rtol) {
    for (int i = 0; i < N; ++i) NV_Ith_S(tolerance, i) = rtol * small_[static_cast<std::size_t>(i)];
  }

  SUNContext context = nullptr;
  N_Vector y, dy, tolerance;

 private:
  std::vector<double> small_;
};

/// A dense matrix addressed by row and column, stored by columns.
template <int N>
auto entries(SUNMatrix m) {
  return [data = SM_DATA_D(m)](int row, int column) -> double& { return data[column * N + row]; };
}

/// The Newton matrix and its linear solver.
template <int N>
struct dense_system {
  explicit dense_system(const workspace<N>& work)
      : matrix(SUNDenseMatrix(N, N, work.context)), solver(SUNLinSol_Dense(work.y, matrix, work.context)) {}
  dense_system(const dense_system&) = delete;
  dense_system& operator=(const dense_system&) = delete;
  ~dense_system() {
    SUNLinSolFree(solver);
    SUNMatDestroy(matrix);
  }
  SUNMatrix matrix;
  SUNLinearSolver solver;
};

/// Callbacks of the integrators of y' = f.
template <class Problem>
struct instance {
  const double* p = nullptr;
  double m[Problem::modes + 1] = {};

  void start(const double* parameters, N_Vector y) {
    p = parameters;
    Problem::start(p, NV_DATA_S(y));
    Problem::start_mode(p, m);
  }
  /// Asks for a smaller step if y is outside the domain of the right-hand side.
  static int rhs(double t, N_Vector y, N_Vector dy, void* self) {
    const auto& at = *static_cast<instance*>(self);
    Problem::template rhs<double>(at.p, at.m, t, NV_DATA_S(y), NV_DATA_S(dy));
    double sum = 0;
    for (int i = 0; i < Problem::n; ++i) sum += NV_Ith_S(dy, i);
    return std::isfinite(sum) ? 0 : 1;
  }
  static int guard(double t, N_Vector y, double* g, void* self) {
    const auto& at = *static_cast<instance*>(self);
    g[0] = Problem::template guard<double>(at.p, at.m, t, NV_DATA_S(y));
    return 0;
  }
  /// SUNDIALS passes a zeroed matrix.
  static int jacobian(double, N_Vector y, N_Vector, SUNMatrix m, void* self, N_Vector, N_Vector, N_Vector) {
    Problem::template jacobian<double>(static_cast<instance*>(self)->p, NV_DATA_S(y), entries<Problem::n>(m));
    return 0;
  }
};

template <class Problem>
class cvode {
 public:
  static constexpr int n = Problem::n;

  cvode(int formulas, double t_end, const std::vector<double>& small) : work_(small), system_(work_), t_end_(t_end) {
    memory_ = CVodeCreate(formulas, work_.context);
    const double none[Problem::parameters] = {};
    at_.start(none, work_.y);
    check(CVodeInit(memory_, at_.rhs, 0.0, work_.y), "CVodeInit");
    CVodeSetErrHandlerFn(memory_, silent, nullptr);
    CVodeSetUserData(memory_, &at_);
    CVodeSetMaxNumSteps(memory_, max_steps);
    work_.set_tolerance(1e-6);
    check(CVodeSVtolerances(memory_, 1e-6, work_.tolerance), "CVodeSVtolerances");
    if (formulas == CV_ADAMS) {
      iteration_ = SUNNonlinSol_FixedPoint(work_.y, 0, work_.context);
      check(CVodeSetNonlinearSolver(memory_, iteration_), "CVodeSetNonlinearSolver");
    } else {
      check(CVodeSetLinearSolver(memory_, system_.solver, system_.matrix), "CVodeSetLinearSolver");
      if constexpr (is_stiff<Problem>) check(CVodeSetJacFn(memory_, at_.jacobian), "CVodeSetJacFn");
    }
    if constexpr (has_events<Problem>) {
      check(CVodeRootInit(memory_, 1, at_.guard), "CVodeRootInit");
      int direction = Problem::direction;
      CVodeSetRootDirection(memory_, &direction);
      CVodeSetNoInactiveRootWarn(memory_);
      if (std::isfinite(Problem::max_step)) CVodeSetMaxStep(memory_, Problem::max_step);
    }
  }
  ~cvode() {
    CVodeFree(&memory_);
    if (iteration_) SUNNonlinSolFree(iteration_);
  }
  cvode(const cvode&) = delete;
  cvode& operator=(const cvode&) = delete;

  void set_tolerance(double rtol) {
    work_.set_tolerance(rtol);
    check(CVodeSVtolerances(memory_, rtol, work_.tolerance), "CVodeSVtolerances");
  }
  long solve(const double* p, double* out, long& events) {
    at_.start(p, work_.y);
    events = 0;
    double t = 0;
    long steps = 0;
    while (true) {
      CVodeReInit(memory_, t, work_.y);
      CVodeSetStopTime(memory_, t_end_);
      const int flag = CVode(memory_, t_end_, work_.y, &t, CV_NORMAL);
      if (flag < 0) return -1;
      long accepted = 0, refused = 0;
      CVodeGetNumSteps(memory_, &accepted);
      CVodeGetNumErrTestFails(memory_, &refused);
      steps += accepted + refused;
      if (flag != CV_ROOT_RETURN) break;
      ++events;
      if constexpr (has_events<Problem>) Problem::transition(p, at_.m, t, NV_DATA_S(work_.y));
    }
    Problem::output(p, NV_DATA_S(work_.y), out);
    return steps;
  }

 private:
  workspace<n> work_;
  dense_system<n> system_;
  instance<Problem> at_;
  double t_end_;
  void* memory_ = nullptr;
  SUNNonlinearSolver iteration_ = nullptr;
};

template <class Problem>
class erk {
 public:
  static constexpr int n = Problem::n;

  erk(ARKODE_ERKTableID table, double t_end, const std::vector<double>& small) : work_(small), t_end_(t_end) {
    const double none[Problem::parameters] = {};
    at_.start(none, work_.y);
    memory_ = ERKStepCreate(at_.rhs, 0.0, work_.y, work_.context);
    ERKStepSetErrHandlerFn(memory_, silent, nullptr);
    ERKStepSetUserData(memory_, &at_);
    ERKStepSetMaxNumSteps(memory_, max_steps);
    check(ERKStepSetTableNum(memory_, table), "ERKStepSetTableNum");
    work_.set_tolerance(1e-6);
    check(ERKStepSVtolerances(memory_, 1e-6, work_.tolerance), "ERKStepSVtolerances");
    if constexpr (has_events<Problem>) {
      check(ERKStepRootInit(memory_, 1, at_.guard), "ERKStepRootInit");
      int direction = Problem::direction;
      ERKStepSetRootDirection(memory_, &direction);
      ERKStepSetNoInactiveRootWarn(memory_);
      if (std::isfinite(Problem::max_step)) ERKStepSetMaxStep(memory_, Problem::max_step);
    }
  }
  ~erk() { ERKStepFree(&memory_); }
  erk(const erk&) = delete;
  erk& operator=(const erk&) = delete;

  void set_tolerance(double rtol) {
    work_.set_tolerance(rtol);
    check(ERKStepSVtolerances(memory_, rtol, work_.tolerance), "ERKStepSVtolerances");
    first_step_ = 0;
  }
  long solve(const double* p, double* out, long& events) {
    at_.start(p, work_.y);
    events = 0;
    double t = 0;
    ERKStepReInit(memory_, at_.rhs, t, work_.y);
    // The step size of the previous instance, since an estimate would cost evaluations.
    ERKStepSetInitStep(memory_, first_step_);
    int flag;
    while (true) {
      ERKStepSetStopTime(memory_, t_end_);
      flag = ERKStepEvolve(memory_, t_end_, work_.y, &t, ARK_NORMAL);
      if (flag != ARK_ROOT_RETURN) break;
      ++events;
      if constexpr (has_events<Problem>) Problem::transition(p, at_.m, t, NV_DATA_S(work_.y));
      ERKStepReset(memory_, t, work_.y);
    }
    if (flag < 0) return -1;
    Problem::output(p, NV_DATA_S(work_.y), out);
    ERKStepGetActualInitStep(memory_, &first_step_);
    long tried = 0;
    ERKStepGetNumStepAttempts(memory_, &tried);
    return tried;
  }

 private:
  workspace<n> work_;
  instance<Problem> at_;
  double t_end_, first_step_ = 0;
  void* memory_ = nullptr;
};

template <class Problem>
class ida {
 public:
  using dae = typename Problem::dae;
  static constexpr int n = dae::n;

  ida(double t_end, const std::vector<double>& small) : work_(small), system_(work_), t_end_(t_end) {
    memory_ = IDACreate(work_.context);
    const double none[Problem::parameters] = {};
    dae::start(none, NV_DATA_S(work_.y), NV_DATA_S(work_.dy));
    check(IDAInit(memory_, residual, 0.0, work_.y, work_.dy), "IDAInit");
    IDASetErrHandlerFn(memory_, silent, nullptr);
    IDASetMaxNumSteps(memory_, max_steps);
    work_.set_tolerance(1e-6);
    check(IDASVtolerances(memory_, 1e-6, work_.tolerance), "IDASVtolerances");
    check(IDASetLinearSolver(memory_, system_.solver, system_.matrix), "IDASetLinearSolver");
    check(IDASetJacFn(memory_, jacobian), "IDASetJacFn");
  }
  ~ida() { IDAFree(&memory_); }
  ida(const ida&) = delete;
  ida& operator=(const ida&) = delete;

  void set_tolerance(double rtol) {
    work_.set_tolerance(rtol);
    check(IDASVtolerances(memory_, rtol, work_.tolerance), "IDASVtolerances");
  }
  long solve(const double* p, double* out, long&) {
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
  dense_system<n> system_;
  double t_end_;
  void* memory_ = nullptr;
};

template <class Problem, class Solver, class... First>
void serve_with(double t_end, const std::vector<double>& small, First... first) {
  if (small.size() != Problem::outputs) throw std::runtime_error("a SMALL for each state");
  const auto solver = std::make_unique<Solver>(first..., t_end, small);
  serve_instances<Problem>(*solver);
}

template <class Problem>
void serve_by(const std::string& method, double t_end, const std::vector<double>& small) {
  if (method == "adams") return serve_with<Problem, cvode<Problem>>(t_end, small, CV_ADAMS);
  if (method == "bdf") return serve_with<Problem, cvode<Problem>>(t_end, small, CV_BDF);
  for (const auto& known : explicit_methods)
    if (method == known.name) return serve_with<Problem, erk<Problem>>(t_end, small, known.table);
  if constexpr (requires { typename Problem::dae; })
    if (method == "ida") return serve_with<Problem, ida<Problem>>(t_end, small);
  throw std::runtime_error("no " + method + " for " + Problem::name);
}

void run(int argc, char** argv) {
  if (argc == 2 && std::string(argv[1]) == "--about") {
    std::printf("{\"version\": \"%s\", \"compiler\": \"%s\"}\n", SUNDIALS_VERSION, compiler);
    return;
  }
  if (argc != 5) throw std::runtime_error("usage: peer_sundials PROBLEM METHOD T_END SMALL");
  const std::string method = argv[2];
  const double t_end = std::stod(argv[3]);
  if (!with_problem(argv[1], [&]<class Problem>(Problem) { serve_by<Problem>(method, t_end, numbers(argv[4])); }))
    throw std::runtime_error(std::string("no problem ") + argv[1]);
}

}  // namespace
}  // namespace peers

int main(int argc, char** argv) {
  return peers::guarded("peer_sundials", [&] { peers::run(argc, argv); });
}
