// Measures lane shapes: beside a long run, or at once on request. A short run never waits for a measurement.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/cancellation.hpp"
#include "base/program_beside.hpp"
#include "compile/machine_shapes.hpp"
#include "ensemble/backend.hpp"
#include "spec/plan.hpp"

namespace saltus::host {

/// The command with which the program starts itself beside a run.
inline constexpr const char* measuring_command = "measure-lanes";

/// Starts a process that measures unknown lane shapes for a run on `where` whose command line is `command`; null if all
/// are known, or $SALTUS_MEASURE says never. The process ends when the run ends and destroys this object; compiled
/// models stay in the cache, so finished work is not lost. Throws `error` (usage) if $SALTUS_MEASURE is no number.
std::unique_ptr<program_beside> measure_beside(const plan& p, backend& where, std::vector<std::string> command);

/// The work of that process: measures for all models of the kind and then, if the run still lasts, for this model.
void measure_lanes(const plan& p, const cancellation& stop);

/// Measures again for the default methods and for dop853; reports to `say`.
void measure_machine(const cancellation& stop, const std::function<void(const std::string&)>& say);

}  // namespace saltus::host
