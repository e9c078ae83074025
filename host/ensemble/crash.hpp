// Who it was: the instance and the function of the model that made it crash.
#pragma once

#include <string>

#include "ensemble/chunk.hpp"
#include "ensemble/model_call.hpp"
#include "spec/plan.hpp"

namespace saltus::host {

/// Tries the instances that were under way once more, each in a child process, by a module that is compiled with line
/// numbers. Gives the one that crashes again the status model_crashed, and returns what a user is told: the model, how it
/// ended, the instance, and the function with its line, as far as all this is found out.
std::string explain_crash(const plan& p, chunk_data& chunk, const model_crash& crash, const cancellation& stop);

}  // namespace saltus::host
