#include "study/run_mode.hpp"

#include <filesystem>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"
#include "result/sharing.hpp"

namespace saltus::host {

namespace {

[[noreturn]] void refuse(const std::string& why) { throw error(exit_usage, why); }

void must_have_a_file(const plan& p) {
  if (p.file.empty()) refuse("a result file must be named, for its journal: output.file, or -o FILE");
}

/// Throws if no single run has the instances from which a result of the plan is made.
void must_be_divisible(const plan& p, const char* flag) {
  if (!p.rows && !p.indices.empty())
    refuse(fmt::format("{}: indices of sensitivity without rows need all instances in one run: set output.rows = true",
                       flag));
  if (p.design.half_width > 0)
    refuse(fmt::format("{}: how many samples sample.until makes is not known before: leave out one of the two", flag));
}

class run_alone final : public run_mode {
 public:
  void check(const plan&, bool) const override {}
  bool needs_journal() const override { return false; }
};

class run_that_reads : public run_mode {
 public:
  void check(const plan& p, bool) const override { must_have_a_file(p); }
  bool integrates() const override { return false; }
};

class run_that_gathers : public run_that_reads {
 public:
  void opened(journal& kept, const cancellation&) const override { kept.must_be_complete(); }
};

/// Completes a result whose rows all parts have written.
class run_that_completes final : public run_that_gathers {
 public:
  explicit run_that_completes(completion whole) : whole_(std::move(whole)) {}
  std::unique_ptr<output_file> output(const plan& p, const provenance& origin, existing older,
                                      const journal*) const override {
    return whole_(p, origin, older);
  }

 private:
  const completion whole_;
};

class run_so_far final : public run_that_reads {
 public:
  explicit run_so_far(std::string file) : file_(std::move(file)) {}
  void check(const plan& p, bool restarts) const override {
    run_that_reads::check(p, restarts);
    std::error_code ignored;
    if (file_ == p.file || std::filesystem::equivalent(file_, p.file, ignored))
      refuse(fmt::format("--so-far {}: must be another file than the result of the run, which is not complete yet",
                         file_));
  }
  journal::older use_of_journal() const override { return journal::older::read; }
  std::string result_of(const plan&) const override { return file_; }
  std::unique_ptr<output_file> output(const plan& p, const provenance& origin, existing older,
                                      const journal*) const override {
    return make_output(file_, p, origin, older);
  }
  bool removes_journal() const override { return false; }

 private:
  const std::string file_;
};

class run_of_part final : public run_mode {
 public:
  explicit run_of_part(ensemble_part part) : part_(std::move(part)) {}
  void check(const plan& p, bool restarts) const override {
    must_have_a_file(p);
    if (restarts) refuse("--restart drops what all parts have: leave out --part");
    must_be_divisible(p, "--part");
  }
  ensemble_part part() const override { return part_; }
  std::unique_ptr<output_file> output(const plan& p, const provenance& origin, existing older,
                                      const journal* kept) const override {
    const shared_format* const format = shared_format_of(p);
    if (!format) return nullptr;
    return format->begin(p.file, p, origin, older,
                         {fmt::format("{}of{}", part_.number, part_.of),
                          ranges_of(part_, p.count, format->chunk_rows(p)), kept->identity()});
  }
  bool makes_result() const override { return false; }
  std::shared_ptr<const run_mode> next(const plan& p, const std::string& run) const override {
    const shared_format* const format = shared_format_of(p);
    completion whole = format ? format->left_by_parts(p.file, part_.of, run) : completion();
    return whole ? std::make_shared<run_that_completes>(std::move(whole)) : nullptr;
  }

 private:
  const ensemble_part part_;
};

class run_that_shares final : public run_mode {
 public:
  explicit run_that_shares(sharing& others) : others_(others) {}
  void check(const plan& p, bool) const override {
    must_have_a_file(p);
    must_be_divisible(p, "--share");
  }
  void before_opening() const override { others_.before_opening(); }
  void opened(journal& kept, const cancellation& stop) const override { others_.opened(kept, stop); }
  ensemble_part part() const override { return {.among = others_.name()}; }
  claims* taken_from(journal*) const override { return &others_; }
  bool wait_for_more() const override { return others_.wait_for_more(); }
  std::int64_t unclaimed() const override { return others_.unclaimed(); }
  std::unique_ptr<output_file> output(const plan&, const provenance&, existing, const journal*) const override {
    return nullptr;
  }
  bool makes_result() const override { return false; }

 private:
  sharing& others_;
};

}  // namespace

std::unique_ptr<output_file> run_mode::output(const plan& p, const provenance& origin, existing older,
                                              const journal* kept) const {
  return make_output(p.file, p, origin, older, kept ? abandoned::removed : abandoned::set_aside);
}

std::shared_ptr<const run_mode> run_mode::next(const plan&, const std::string&) const { return nullptr; }

std::shared_ptr<const run_mode> alone() { return std::make_shared<run_alone>(); }
std::shared_ptr<const run_mode> one_part(const ensemble_part& part) {
  return part.is_all() ? alone() : std::make_shared<run_of_part>(part);
}
std::shared_ptr<const run_mode> shared_with(sharing& others) { return std::make_shared<run_that_shares>(others); }
std::shared_ptr<const run_mode> gathering() { return std::make_shared<run_that_gathers>(); }
std::shared_ptr<const run_mode> so_far_into(const std::string& file) { return std::make_shared<run_so_far>(file); }

}  // namespace saltus::host
