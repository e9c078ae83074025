// The options of run, which check, bench and the program for MPI have in common.
#pragma once

#include <CLI/CLI.hpp>

#include "cli/commands.hpp"

namespace saltus::host {

void add_json(CLI::App* command, bool& as_object);
/// What is run, and how. The arguments must outlive the command.
void add_run_options(CLI::App* command, run_arguments& to);
/// What becomes of a result and a journal that are there, and when the run ends.
void add_journal_options(CLI::App* command, run_arguments& to);

}  // namespace saltus::host
