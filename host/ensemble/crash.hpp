// Finds the instance and the model's function that crashed.
#pragma once

#include <string>

#include "ensemble/chunk_data.hpp"
#include "ensemble/model_call.hpp"
#include "spec/plan.hpp"

namespace saltus::host {

/// Tries the instances that were under way once more, each in a child process, with a module compiled with line
/// numbers. Gives the instance that crashes again the status model_crashed. Returns the message for the user: the
/// model, the signal, the instance, and the function with its line, as far as these are found.
std::string explain_crash(const plan& p, chunk_data& chunk, const model_crash& crash, const cancellation& stop);

}  // namespace saltus::host
