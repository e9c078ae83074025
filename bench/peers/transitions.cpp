// The transitions of the ensembles for heyoka, whose events call Python: C++ functions with Python's fastest calling
// convention, which read and write the integrator's own memory. With transitions written in Python, the bouncing ball takes
// more than twice as long.
//
//     attach(problem, lanes, states, parameters, times, counts)    the addresses of the integrator's arrays
//     fire(integrator, sign, lane) -> True                         the callback of the guard
//     pass(integrator, time, sign, lane)                           the callback of a guard whose event changes nothing
//     turn(integrator, sign, lane) -> True                         the callback of the apex of a flight in air (by_heyoka.py)
//
// Arrays have heyoka's layout: one row for each quantity and one column for each lane; the parameters are those of the
// problem, followed by its modes.
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <type_traits>

#include "problems.hpp"

namespace {

struct arrays {
  long lanes;
  double *states, *parameters;
  const double* times;
  long long* counts;
} memory{};
void (*transition)(long lane) = nullptr;

/// The sign of the velocity, which heyoka needs as a separate parameter.
constexpr long rises = peers::ball_drag::parameters;

template <class Problem>
void transition_of(long lane) {
  // A guard that is zero at the start does not fire.
  if (memory.times[lane] < 1e-9) return;
  double y[Problem::n], p[Problem::parameters], m[Problem::modes + 1];
  const auto each = [lane](double* array, int first, int count, auto&& f) {
    for (int i = 0; i < count; ++i) f(i, array[(first + i) * memory.lanes + lane]);
  };
  each(memory.states, 0, Problem::n, [&](int i, double v) { y[i] = v; });
  each(memory.parameters, 0, Problem::parameters, [&](int i, double v) { p[i] = v; });
  each(memory.parameters, Problem::parameters, Problem::modes, [&](int i, double v) { m[i] = v; });
  Problem::transition(p, m, memory.times[lane], y);
  each(memory.states, 0, Problem::n, [&](int i, double& v) { v = y[i]; });
  each(memory.parameters, Problem::parameters, Problem::modes, [&](int i, double& v) { v = m[i]; });
  if constexpr (std::is_same_v<Problem, peers::ball_drag>) memory.parameters[rises * memory.lanes + lane] = 1.0;
  ++memory.counts[lane];
}

PyObject* attach(PyObject*, PyObject* arguments) {
  const char* name;
  unsigned long long states, parameters, times, counts;
  if (!PyArg_ParseTuple(arguments, "slKKKK", &name, &memory.lanes, &states, &parameters, &times, &counts))
    return nullptr;
  memory.states = reinterpret_cast<double*>(states);
  memory.parameters = reinterpret_cast<double*>(parameters);
  memory.times = reinterpret_cast<const double*>(times);
  memory.counts = reinterpret_cast<long long*>(counts);
  transition = nullptr;
  peers::with_problem(name, []<class Problem>(Problem) {
    if constexpr (peers::has_events<Problem>) transition = transition_of<Problem>;
  });
  if (transition) Py_RETURN_NONE;
  PyErr_Format(PyExc_ValueError, "no events in %s", name);
  return nullptr;
}

PyObject* fire(PyObject*, PyObject* const* arguments, Py_ssize_t count) {
  if (count != 3 || !transition) return PyErr_Format(PyExc_TypeError, "fire(integrator, sign, lane), after attach");
  transition(PyLong_AsLong(arguments[2]));
  Py_RETURN_TRUE;
}

PyObject* pass(PyObject*, PyObject* const* arguments, Py_ssize_t count) {
  if (count != 4 || !transition)
    return PyErr_Format(PyExc_TypeError, "pass(integrator, time, sign, lane), after attach");
  ++memory.counts[PyLong_AsLong(arguments[3])];
  Py_RETURN_NONE;
}

PyObject* turn(PyObject*, PyObject* const* arguments, Py_ssize_t count) {
  if (count != 3 || !transition) return PyErr_Format(PyExc_TypeError, "turn(integrator, sign, lane), after attach");
  memory.parameters[rises * memory.lanes + PyLong_AsLong(arguments[2])] = -1.0;
  Py_RETURN_TRUE;
}

/// Wraps a function with fast arguments in the form that a module's method table needs.
PyCFunction fast(PyObject* (*f)(PyObject*, PyObject* const*, Py_ssize_t)) {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(f));
}

PyMethodDef functions[] = {
    {"attach", attach, METH_VARARGS, "Says whose memory the callbacks work on."},
    {"fire", fast(fire), METH_FASTCALL, "The transition of the problem."},
    {"pass_by", fast(pass), METH_FASTCALL, "Counts an event at which nothing changes."},
    {"turn", fast(turn), METH_FASTCALL, "The ball falls from now on."},
    {nullptr, nullptr, 0, nullptr},
};
PyModuleDef module = {
    PyModuleDef_HEAD_INIT,
    "peer_transitions",
    "Transitions for heyoka.",
    -1,
    functions,
    nullptr,
    nullptr,
    nullptr,
    nullptr,
};

}  // namespace

PyMODINIT_FUNC PyInit_peer_transitions() { return PyModule_Create(&module); }
