// How an instance ended: every instance has exactly one status, and each status one meaning and one remedy.
//
// The kernels store the number, the result file lists number and name, the summary prints the sentences. Files outlive
// programs: a number is never given to another status, and a new one takes the next free number.
#pragma once

#include "number/base.hpp"

namespace saltus {

enum class status : unsigned char {
  finished = 0,
  stopped = 1,
  step_budget = 2,
  event_budget = 3,
  step_too_small = 4,
  not_finite = 5,
  bad_start = 6,
  event_loop = 7,
  not_located = 8,
  not_run = 9,
  interrupted = 10,
  guard_violated = 11,
  zeno = 12,
  two_slides = 13,
  newton_failed = 14,
  singular = 15,
  inconsistent = 16,
  stiff = 17,
  bad_schedule = 18,
  time_limit = 19,
  model_threw = 20,
  model_crashed = 21,
  no_impulses = 22,
  painleve = 23,
  dead_point = 24,
  modes_unsettled = 25,
  moved_far = 26,
  chattering = 27,
  stiff_for_long = 28,
  queue_full = 29,
  bad_delay = 30,
  history_full = 31,
};

enum class status_group : unsigned char {
  ok,           ///< the result is complete
  failed,       ///< integration gave up; the state is the last reliable one
  not_finished  ///< the run ended before the instance did
};

/// One status: its number, its name in files and on the command line, what it means, what to do about it.
struct status_row {
  status id;
  const char* name;
  const char* meaning;
  const char* remedy;
  status_group group;
};

inline constexpr status_row status_table[] = {
    {status::finished, "finished", "reached the end of its time span", "nothing to do", status_group::ok},
    {status::stopped, "stopped", "the model or a terminal guard ended it", "nothing to do", status_group::ok},
    {status::step_budget, "step_budget", "used up its budget of trial steps",
     "raise max_steps; if steps are tiny, loosen rtol and atol, or look for a stiff or fast regime: stiff equations "
     "need "
     "method = \"auto\" or an implicit one, such as rodas5p",
     status_group::failed},
    {status::event_budget, "event_budget", "used up its budget of events",
     "raise max_events; if events pile up (bounces that never end), give the model a resting or sliding mode",
     status_group::failed},
    {status::step_too_small, "step_too_small", "error control asked for a step below the rounding of t",
     "loosen rtol and atol, or look for a singularity or an unguarded jump in the right-hand side near t_final",
     status_group::failed},
    {status::not_finite, "not_finite", "right-hand side, guard or state was not finite however short the step",
     "look for a division by zero, a root of a negative number or a blow-up near t_final", status_group::failed},
    {status::bad_start, "bad_start",
     "initial state, right-hand side or guard not finite, or a table has no curve of the number that a parameter is",
     "correct the initial values or the parameters of this instance; curves have numbers from 0 on",
     status_group::failed},
    {status::event_loop, "event_loop", "transitions at one instant kept triggering each other",
     "let the transition leave a state in which no guard is due, or give the model a resting or sliding mode",
     status_group::failed},
    {status::not_located, "not_located", "an event was detected but not located within the allowed attempts",
     "set a smaller max_step, or smooth a guard that is not continuous or not differentiable", status_group::failed},
    {status::not_run, "not_run", "was never started", "run it again: the run ended before its turn came",
     status_group::not_finished},
    {status::interrupted, "interrupted", "was under way when the run was interrupted", "run it again",
     status_group::not_finished},
    {status::guard_violated, "guard_violated", "was beyond a unilateral guard and moving further away from it",
     "start on the guard's own side, or declare the guard bilateral if it may be passed", status_group::failed},
    {status::zeno, "zeno", "infinitely many events before a finite time; t_final is their limit",
     "give the model a resting mode: static void rest(auto& now)", status_group::failed},
    {status::two_slides, "two_slides", "reached a point where it would slide along two guards at once",
     "smooth one of the two switches, or give the model a mode of its own there", status_group::failed},
    {status::newton_failed, "newton_failed", "Newton's iteration did not converge however short the step",
     "look for a kink, a jump or a singularity of the right-hand side near t_final", status_group::failed},
    {status::singular, "singular", "the matrix of the implicit equations was singular however short the step",
     "check that every state has an equation of its own and that the index is as declared; of equations of any order "
     "the structural analysis holds no more, and residual_of names one that depends on others there",
     status_group::failed},
    {status::inconsistent, "inconsistent", "no values of the algebraic states were found that meet the constraints",
     "give better initial values; residual_of names the worst constraint: if it does not depend on the algebraic "
     "states, "
     "their index is higher than declared, which saltus describe tells; of equations of any order whose analysis "
     "fails, "
     "structure = \"array\" asks for the derivative array; if residual_of names a state as_written, the transition has "
     "written what the constraints do not allow: leave it free, or write what goes with it; if it names mass_of a "
     "velocity, "
     "the mass matrix is singular, with the constraints, too",
     status_group::failed},
    {status::stiff, "stiff", "became too stiff for an explicit method", "use method = \"auto\" or an implicit method",
     status_group::failed},
    {status::bad_schedule, "bad_schedule",
     "the model gave a time event a period that is not positive, a time that is none, or a negative delay; or a record "
     "has a row before the start",
     "let when.every have a period above zero, that rounding of t does not swallow, when.delay no negative lag, and "
     "now.after a delay of at least zero, in a transition, with no more numbers than the time event carries; what "
     "never comes has an infinite time; records.past = \"given\" passes over rows before the start",
     status_group::failed},
    {status::time_limit, "time_limit", "was under way for longer than its time limit",
     "raise run.instance_time_limit; or look why it is slow: a stiff regime near t_final, which needs method = "
     "\"auto\" or "
     "an implicit one, such as rodas5p; a fast one; a loop in the model",
     status_group::failed},
    {status::model_threw, "model_threw", "a function of the model threw an exception",
     "let the model end an instance by a terminal guard, or by a value that is not finite, instead of throwing",
     status_group::failed},
    {status::model_crashed, "model_crashed", "a function of the model crashed, or ended the program",
     "mend the model: look for an index beyond an array, an endless recursion, a failed assertion, a call of exit",
     status_group::failed},
    {status::no_impulses, "no_impulses", "no impulses were found for contacts that collide",
     "check that the constraints that are on depend neither on each other nor on the contact, and that the mass matrix "
     "is "
     "positive definite",
     status_group::failed},
    {status::painleve, "painleve", "friction at a contact left no acceleration, or more than one (Painleve's paradox)",
     "lower the coefficient of friction, let the contact give way (a spring), or end the slip before that point",
     status_group::failed},
    {status::dead_point, "dead_point",
     "came to a dead point: constraints depend on each other there, and branches of the motion may meet",
     "leave out constraints that follow from the others, or end the run before that point; residual_of names one of "
     "them",
     status_group::failed},
    {status::modes_unsettled, "modes_unsettled", "no point was found that lies in the mode whose equations it solves",
     "start elsewhere, or let every mode have points of its own: guards may contradict what they switch",
     status_group::failed},
    {status::moved_far, "moved_far",
     "three steps in a row ended a hundred times as far off the constraints as their error explains",
     "check that the mass matrix is right, that forces are functions of time and state alone, and that what is "
     "declared "
     "as an invariant is one",
     status_group::failed},
    {status::chattering, "chattering",
     "a guard was crossed back and forth without end: both sides push the instance onto its surface",
     "declare the guard .sliding(), or give the switch a second threshold", status_group::failed},
    {status::stiff_for_long, "stiff_for_long",
     "became too stiff for an explicit method, for so long that rounding in a Rosenbrock method may break conservation "
     "laws",
     "use method = \"auto\" or radau5", status_group::failed},
    {status::queue_full, "queue_full",
     "more items of a time event were scheduled at the same time than it has room for",
     "raise its capacity in time_event_list, .scheduled(n), or let the model cancel what need not come",
     status_group::failed},
    {status::bad_delay, "bad_delay",
     "a delay was not positive, not finite or lost in rounding of t, or step was too long",
     "let lag[delay] be a positive time; a constant step must be at most 0.99 of the least delay",
     status_group::failed},
    {status::history_full, "history_full", "took more steps within its longest delay than its history has room for",
     "raise history; if steps are tiny, loosen rtol and atol, or take a method of higher order", status_group::failed},
};

inline constexpr int status_count = sizeof(status_table) / sizeof(status_table[0]);

/// True if the instance reached its end, by itself or by a terminal guard.
SALTUS_FN constexpr bool is_ok(status s) { return s == status::finished || s == status::stopped; }

/// True if a conservative integrator may get past the last accepted point: the cause of failure was numerical.
SALTUS_FN constexpr bool rescuable(status s) {
  return s == status::not_located || s == status::step_too_small || s == status::not_finite ||
         s == status::newton_failed || s == status::singular || s == status::moved_far;
}

/// True if an implicit method continues the instance, with method = "auto".
SALTUS_FN constexpr bool is_stiff(status s) { return s == status::stiff || s == status::stiff_for_long; }

namespace detail {
constexpr bool status_table_is_right() {
  for (int i = 0; i < status_count; ++i) {
    const status_row& row = status_table[i];
    if (static_cast<int>(row.id) != i || is_ok(row.id) != (row.group == status_group::ok)) return false;
  }
  return true;
}
static_assert(status_table_is_right(), "row i of status_table describes status i, and is_ok agrees with its group");
}  // namespace detail

}  // namespace saltus
