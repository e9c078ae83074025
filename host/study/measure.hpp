// When lane shapes are measured: beside a run that lasts, or at once because somebody asks. A short run never waits for it.
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

/// Begins to find out, in another process, what is not known about the lanes of a run on `where` that was started by the
/// words of `command`; nothing if all is known, or $SALTUS_MEASURE says never. It ends when the run does and destroys this:
/// compiled models are kept, so what was done by then is not lost. Throws `error` (usage) if $SALTUS_MEASURE is no number.
std::unique_ptr<program_beside> measure_beside(const plan& p, backend& where, std::vector<std::string> command);

/// What that process does: it measures for all models of the kind, and, if the run still lasts by then, for this one.
void measure_lanes(const plan& p, const cancellation& stop);

/// Measures anew for the methods that are taken without being asked for, and for dop853; `say` hears of it.
void measure_machine(const cancellation& stop, const std::function<void(const std::string&)>& say);

}  // namespace saltus::host
