// Options that run, check, bench and the program for MPI share.
#pragma once

#include <CLI/CLI.hpp>

#include "cli/commands.hpp"

namespace saltus::host {

void add_json(CLI::App* command, bool& as_object);
/// Adds options for the subject and the settings of a run. `to` must outlive the command.
void add_run_options(CLI::App* command, run_arguments& to);
/// Adds options for an existing result and journal, and for the time limit.
void add_journal_options(CLI::App* command, run_arguments& to);

}  // namespace saltus::host
