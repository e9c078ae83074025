/* saltus from C, and from all that can call C: Julia, R, MATLAB, Fortran.
 *
 *     saltus_study* valves = saltus_open("relief_valve");
 *     saltus_set(valves, "sweep.flow", "{ from = 2.0, to = 6.0, count = 100 }");
 *     saltus_result* r = saltus_run(valves);
 *     saltus_variable lift;
 *     saltus_find(r, "final_lift", &lift);      // lift.size numbers of double at lift.numbers
 *     saltus_free(r), saltus_close(valves);
 *
 * A function that fails returns NULL, -1 or an exit code other than 0; saltus_error() then has a sentence for users. Texts are UTF-8.
 * The library installs no signal handlers and no exit handlers, and sets no locale and no environment variable, unless
 * saltus_guard_process is called. A model that crashes takes the process along. saltus.hpp is the interface for C++. docs/library.md. */
#ifndef SALTUS_H
#define SALTUS_H

#include <stddef.h>
#include <stdint.h>

#define SALTUS_VERSION_MAJOR 0
#define SALTUS_VERSION_MINOR 1
#define SALTUS_VERSION_PATCH 0

#define SALTUS_API __attribute__((visibility("default")))

#ifdef __cplusplus
extern "C" {
#endif

/* A model or a spec, with settings: what is to be run. Used by one thread at a time. */
typedef struct saltus_study saltus_study;
/* The result of a run, in memory. */
typedef struct saltus_result saltus_result;

/* Exit codes, those of the program. */
enum {
  SALTUS_OK = 0,
  SALTUS_FAILURE = 1,          /* at run time: a full disk, no memory */
  SALTUS_USAGE = 2,            /* a setting, a name or an argument is wrong */
  SALTUS_FAILED_INSTANCES = 3, /* more instances failed than run.allowed_failed */
  SALTUS_MODEL = 4,            /* the model does not compile */
  SALTUS_DEVICE = 5,           /* the device that was asked for is absent */
  SALTUS_INTERRUPTED = 130     /* saltus_cancel */
};

/* Types of numbers. */
enum { SALTUS_REAL = 0 /* double */, SALTUS_INT64 = 1, SALTUS_INT32 = 2, SALTUS_BYTE = 3 /* unsigned char */ };

/* A variable of a result, under the name that it has in a result file (docs/spec.md). All pointers live as long as the result. */
typedef struct {
  const char* name;
  const char* unit;               /* empty: not known */
  const char* meaning;            /* may be empty */
  int type;                       /* SALTUS_REAL, ... */
  int rank;                       /* number of dimensions; 0: a scalar */
  const char* const* dimensions;  /* [rank] "instance", "time", "event", ... */
  const int64_t* shape;           /* [rank] their lengths; the last dimension varies fastest */
  size_t size;                    /* number of numbers */
  const void* numbers;            /* [size] of that type */
} saltus_variable;

/* "0.1.0+1a2b3c4": version and commit of the library. */
SALTUS_API const char* saltus_version(void);
/* For a program that has the process for itself: from now on an instance whose model crashes, exits or never returns is left, and the
 * run ends with an error. Listens to signals and to exit. */
SALTUS_API void saltus_guard_process(void);
/* The last failure of a function here, on this thread: a sentence for users, and its exit code. Empty and 0 if there was none. */
SALTUS_API const char* saltus_error(void);
SALTUS_API int saltus_error_code(void);

/* A study of a built-in model ("relief_valve"), of a header ("./my_model.hpp") or of a spec ("./my_sweep.toml"). A header is compiled
 * when the study is first counted or run. NULL on failure. Ends with saltus_close. */
SALTUS_API saltus_study* saltus_open(const char* what);
/* The same of the text of a spec. Paths in it start at the folder; NULL: at the current one. */
SALTUS_API saltus_study* saltus_open_text(const char* toml, const char* folder);
/* A key of a spec, a parameter or an initial value, and its value as TOML: saltus_set(s, "rtol", "1e-9"). A later value replaces an
 * earlier one. Whether the key exists is known when the study is counted or run. Returns 0 or an exit code. */
SALTUS_API int saltus_set(saltus_study* s, const char* key, const char* value);
/* Values of a parameter, an initial value, "t_begin" or "t_end", one for each instance, copied. All columns of a study together are one
 * axis of its sweep and have the same length. Returns 0 or an exit code. */
SALTUS_API int saltus_column(saltus_study* s, const char* name, const double* values, size_t count);
/* Number of instances; checks all settings and compiles the description of the model. -1 on failure. */
SALTUS_API int64_t saltus_count(saltus_study* s);
/* Called while a run lasts, from any of its threads, with instances that have ended and all. NULL: nobody is told. */
typedef void (*saltus_progress)(int64_t ended, int64_t all, void* with);
SALTUS_API void saltus_on_progress(saltus_study* s, saltus_progress call, void* with);
/* Runs all instances. If output.file is set, the result is written there, too, and an older file is refused unless `replace`. A model
 * stays loaded: further runs of the study compile nothing anew unless a setting changes the compiled code. NULL on failure. Ends with
 * saltus_free; the study may end before. Instances that fail are no failure of the run: see saltus_ended. */
SALTUS_API saltus_result* saltus_run(saltus_study* s, int replace);
/* Ends the present and all later runs of the study early: saltus_run returns what has ended. From any thread and from a signal
 * handler. */
SALTUS_API void saltus_cancel(saltus_study* s);
/* NULL is allowed. */
SALTUS_API void saltus_close(saltus_study* s);

/* The exit code that the program would return for the run: 0, SALTUS_FAILED_INSTANCES, SALTUS_INTERRUPTED, ... */
SALTUS_API int saltus_exit_code(const saltus_result* r);
/* Number of instances that ended with a status ("finished", "zeno", ...; docs/spec.md). -1: there is no such status. */
SALTUS_API int64_t saltus_ended(const saltus_result* r, const char* status);
/* Number of variables; they are 0 .. that - 1. */
SALTUS_API size_t saltus_variables(const saltus_result* r);
/* Variable i, or that of a name. Returns 0 or SALTUS_USAGE, and leaves `to` alone then. */
SALTUS_API int saltus_get(const saltus_result* r, size_t i, saltus_variable* to);
SALTUS_API int saltus_find(const saltus_result* r, const char* name, saltus_variable* to);
/* A text about the run ("settings", "compiler", "history", ...; docs/spec.md). NULL: there is none of that name. */
SALTUS_API const char* saltus_attribute(const saltus_result* r, const char* name);
/* NULL is allowed. */
SALTUS_API void saltus_free(saltus_result* r);

#ifdef __cplusplus
}
#endif

#endif
