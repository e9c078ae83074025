// Reads the rows of a recorded time event from data: the columns that the model names, or those of pharmacometrics (ID, TIME, AMT, RATE,
// DUR, II, ADDL, EVID).
#pragma once

#include <string>
#include <vector>

#include "spec/model.hpp"
#include "spec/record_source.hpp"
#include "spec/run_records.hpp"

namespace saltus::host {

/// Demands of a run on its data: the ids and times that they may have.
struct record_demand {
  const record_keys& keys;
  std::int64_t known;    ///< number of ids without a list of them: rows of a sweep that are not run have one, too
  const char* numbered;  ///< what these ids number: "rows" or "instances"
  bool has_start;        ///< no row may be before `start`
  double start;
  bool all_match = false;  ///< an id in the data that no instance has is an error; else it is a remark
  bool is_quiet = false;   ///< no remarks
};

/// Fills a record. Remarks go to `remarks`, each a sentence that begins with `what`, the name of the data. Throws `error` (exit_usage).
void read_rows(record& to, const time_event& event, record_source& from, const record_demand& demand,
               const std::string& what, std::vector<std::string>& remarks);

}  // namespace saltus::host
