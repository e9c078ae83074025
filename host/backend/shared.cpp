#include "backend/shared.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace saltus::host {

namespace {

class shared_backend final : public backend {
 public:
  shared_backend(std::vector<std::unique_ptr<backend>> parts, std::string note)
      : parts_(std::move(parts)), note_(std::move(note)) {}

  std::string device() const override {
    std::vector<std::string> all;
    for (const auto& part : parts_) all.push_back(part->device());
    if (!note_.empty()) all.push_back(note_);
    return fmt::format("{}", fmt::join(all, "; "));
  }
  std::string model_hash() const override {
    std::vector<std::string> all;
    for (const auto& part : parts_) all.push_back(part->model_hash());
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    return fmt::format("{}", fmt::join(all, " "));
  }
  double compile_seconds() const override { return sum(&backend::compile_seconds); }
  std::int64_t chunk_size() const override { return largest(&backend::chunk_size); }
  int concurrency() const override { return sum(&backend::concurrency); }
  int lanes() const override { return largest(&backend::lanes); }
  double peak_flops() const override {
    // The sum, or 0 if that of one part is unknown.
    double all = 0;
    for (const auto& part : parts_) {
      if (!(part->peak_flops() > 0)) return 0;
      all += part->peak_flops();
    }
    return all;
  }
  bool gains_by_order() const override { return largest(&backend::gains_by_order); }

  std::optional<launches> launches_so_far() const override {
    std::optional<launches> all;
    for (const auto& part : parts_)
      if (const auto some = part->launches_so_far()) {
        if (!all) all.emplace();
        all->add(*some);
      }
    return all;
  }
  void time_launches() override {
    for (const auto& part : parts_) part->time_launches();
  }

  std::vector<backend*> parts() override {
    std::vector<backend*> all;
    for (const auto& part : parts_)
      for (backend* one : part->parts()) all.push_back(one);
    return all;
  }
  void integrate(chunk_data& chunk, const std::function<bool(std::int64_t)>& finished, abi::usage& usage) override {
    parts_.front()->integrate(chunk, finished, usage);
  }

 private:
  template <class Number>
  Number sum(Number (backend::*what)() const) const {
    Number all = 0;
    for (const auto& part : parts_) all += (part.get()->*what)();
    return all;
  }
  template <class Number>
  Number largest(Number (backend::*what)() const) const {
    Number most = 0;
    for (const auto& part : parts_) most = std::max(most, (part.get()->*what)());
    return most;
  }

  std::vector<std::unique_ptr<backend>> parts_;
  std::string note_;
};

}  // namespace

std::unique_ptr<backend> make_shared_backend(std::vector<std::unique_ptr<backend>> parts, std::string note) {
  if (parts.size() == 1 && note.empty()) return std::move(parts.front());
  return std::make_unique<shared_backend>(std::move(parts), std::move(note));
}

}  // namespace saltus::host
