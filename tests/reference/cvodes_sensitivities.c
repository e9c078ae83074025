/* Derivatives of smooth models by SUNDIALS CVODES (R. Serban, A. C. Hindmarsh 2005): the numbers of tests/test_sensitivities.cpp.
 *
 *     apt-get install libsundials-dev
 *     cc -O2 tests/reference/cvodes_sensitivities.c -lsundials_cvodes -lsundials_nvecserial -lm -o /tmp/s && /tmp/s
 *
 * BDF, forward sensitivities (staggered) with their errors under control, rtol 1e-12. One line for each parameter: the derivatives of
 * the states, at the end.
 */
#include <cvodes/cvodes.h>
#include <nvector/nvector_serial.h>
#include <stdio.h>
#include <sunlinsol/sunlinsol_dense.h>
#include <sunmatrix/sunmatrix_dense.h>

enum { n = 3 };
struct model {
  double p[3];
  void (*f)(const double* y, const double* p, double* dy);
  void (*jacobian)(const double* y, const double* p, double j[n][n]);
  void (*by)(int parameter, const double* y, const double* p, double* dy);
};

static void lorenz(const double* y, const double* p, double* dy) {
  dy[0] = p[0] * (y[1] - y[0]);
  dy[1] = y[0] * (p[1] - y[2]) - y[1];
  dy[2] = y[0] * y[1] - p[2] * y[2];
}
static void lorenz_jacobian(const double* y, const double* p, double j[n][n]) {
  j[0][0] = -p[0], j[0][1] = p[0], j[0][2] = 0;
  j[1][0] = p[1] - y[2], j[1][1] = -1, j[1][2] = -y[0];
  j[2][0] = y[1], j[2][1] = y[0], j[2][2] = -p[2];
}
static void lorenz_by(int i, const double* y, const double* p, double* dy) {
  (void)p;
  dy[0] = i == 0 ? y[1] - y[0] : 0;
  dy[1] = i == 1 ? y[0] : 0;
  dy[2] = i == 2 ? -y[2] : 0;
}

static void robertson(const double* y, const double* p, double* dy) {
  const double first = p[0] * y[0], second = p[1] * y[1] * y[2], third = p[2] * y[1] * y[1];
  dy[0] = second - first, dy[1] = first - second - third, dy[2] = third;
}
static void robertson_jacobian(const double* y, const double* p, double j[n][n]) {
  j[0][0] = -p[0], j[0][1] = p[1] * y[2], j[0][2] = p[1] * y[1];
  j[2][0] = 0, j[2][1] = 2 * p[2] * y[1], j[2][2] = 0;
  for (int k = 0; k < n; ++k) j[1][k] = -j[0][k] - j[2][k];
}
static void robertson_by(int i, const double* y, const double* p, double* dy) {
  (void)p;
  const double first = y[0], second = y[1] * y[2], third = y[1] * y[1];
  dy[0] = i == 0 ? -first : i == 1 ? second : 0;
  dy[2] = i == 2 ? third : 0;
  dy[1] = -dy[0] - dy[2];
}

static int rhs(double t, N_Vector y, N_Vector dy, void* data) {
  (void)t;
  const struct model* m = data;
  m->f(NV_DATA_S(y), m->p, NV_DATA_S(dy));
  return 0;
}
static int jacobian(double t, N_Vector y, N_Vector f, SUNMatrix to, void* data, N_Vector a, N_Vector b, N_Vector c) {
  (void)t, (void)f, (void)a, (void)b, (void)c;
  const struct model* m = data;
  double j[n][n];
  m->jacobian(NV_DATA_S(y), m->p, j);
  for (int i = 0; i < n; ++i)
    for (int k = 0; k < n; ++k) SM_ELEMENT_D(to, i, k) = j[i][k];
  return 0;
}
static int sensitivity(int count, double t, N_Vector y, N_Vector f, int which, N_Vector s, N_Vector ds, void* data,
                       N_Vector a, N_Vector b) {
  (void)count, (void)t, (void)f, (void)a, (void)b;
  const struct model* m = data;
  double j[n][n], by[n];
  m->jacobian(NV_DATA_S(y), m->p, j);
  m->by(which, NV_DATA_S(y), m->p, by);
  for (int i = 0; i < n; ++i) {
    double sum = by[i];
    for (int k = 0; k < n; ++k) sum += j[i][k] * NV_Ith_S(s, k);
    NV_Ith_S(ds, i) = sum;
  }
  return 0;
}

static void run(const char* name, struct model m, const double* y0, const double* atol, double end) {
  SUNContext context;
  SUNContext_Create(NULL, &context);
  N_Vector y = N_VNew_Serial(n, context), tolerance = N_VNew_Serial(n, context);
  N_Vector* s = N_VCloneVectorArray(3, y);
  N_Vector* s_tolerance = N_VCloneVectorArray(3, y);
  for (int i = 0; i < n; ++i) NV_Ith_S(y, i) = y0[i], NV_Ith_S(tolerance, i) = atol[i];
  for (int k = 0; k < 3; ++k) {
    N_VConst(0.0, s[k]);
    for (int i = 0; i < n; ++i) NV_Ith_S(s_tolerance[k], i) = atol[i] / m.p[k];
  }
  void* memory = CVodeCreate(CV_BDF, context);
  CVodeInit(memory, rhs, 0.0, y);
  CVodeSVtolerances(memory, 1e-12, tolerance);
  CVodeSetUserData(memory, &m);
  CVodeSetMaxNumSteps(memory, 10000000);
  SUNMatrix matrix = SUNDenseMatrix(n, n, context);
  SUNLinearSolver solver = SUNLinSol_Dense(y, matrix, context);
  CVodeSetLinearSolver(memory, solver, matrix);
  CVodeSetJacFn(memory, jacobian);
  CVodeSensInit1(memory, 3, CV_STAGGERED, sensitivity, s);
  CVodeSensSVtolerances(memory, 1e-12, s_tolerance);
  CVodeSetSensErrCon(memory, 1);
  double t;
  CVodeSetStopTime(memory, end);
  const int flag = CVode(memory, end, y, &t, CV_NORMAL);
  CVodeGetSens(memory, &t, s);
  printf("%s, t = %g (%d)\n", name, t, flag);
  for (int k = 0; k < 3; ++k)
    printf("{%.12e, %.12e, %.12e},\n", NV_Ith_S(s[k], 0), NV_Ith_S(s[k], 1), NV_Ith_S(s[k], 2));
}

int main(void) {
  const double l0[] = {10, 10, 10}, la[] = {1e-12, 1e-12, 1e-12}, r0[] = {1, 0, 0}, ra[] = {1e-14, 1e-18, 1e-14};
  run("lorenz", (struct model){{10, 28, 8.0 / 3}, lorenz, lorenz_jacobian, lorenz_by}, l0, la, 2.0);
  run("robertson", (struct model){{0.04, 1e4, 3e7}, robertson, robertson_jacobian, robertson_by}, r0, ra, 40.0);
  return 0;
}
