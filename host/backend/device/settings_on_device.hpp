// The settings of a run, and the lists that they lead to in device memory: one copy for all chunks. Part of the plug-in library.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <fmt/format.h>

#include "abi/module.hpp"
#include "backend/device/device_driver.hpp"
#include "base/error.hpp"
#include "ensemble/settings.hpp"
#include "spec/plan.hpp"

namespace saltus::host {

/// Allocates parts of a block of device memory, or only adds up their sizes.
class arena {
 public:
  explicit arena(device_address base) : base_(base) {}
  template <class Number>
  void carve(Number*& part, std::int64_t count) {
    part = count > 0 ? reinterpret_cast<Number*>(base_ + used_) : nullptr;
    used_ += (static_cast<std::size_t>(count) * sizeof(Number) + 255) / 256 * 256;
  }
  std::size_t used() const { return used_; }

 private:
  device_address base_;
  std::size_t used_ = 0;
};

/// The tables of a run in device memory, one copy for all chunks.
class tables_on_device {
 public:
  explicit tables_on_device(const plan& p) : memory_(bytes_of(p)) {
    if (!p.tables) return;
    const auto& all = p.tables->all();
    const device_stream stream;
    arena parts(memory_.address());
    std::vector<abi::table> list(p.tables->for_kernels(), p.tables->for_kernels() + all.size());
    parts.carve(there_, std::ssize(list));
    for (std::size_t i = 0; i < all.size(); ++i) {
      const auto copy = [&](const double*& to, const std::vector<double>& from) {
        parts.carve(to, std::ssize(from));
        stream.upload(to, from.data(), from.size());
      };
      copy(list[i].knots, all[i].knots.times);
      copy(list[i].coefficients, all[i].coefficients);
      copy(list[i].last, all[i].last);
    }
    stream.upload(there_, list.data(), list.size());
    stream.wait();
  }
  const abi::table* there() const { return there_; }

 private:
  static std::size_t bytes_of(const plan& p) {
    arena parts(0);
    if (!p.tables) return 0;
    const abi::table* list;
    parts.carve(list, std::ssize(p.tables->all()));
    for (const auto& t : p.tables->all())
      for (const auto* numbers : {&t.knots.times, &t.coefficients, &t.last}) {
        const double* part;
        parts.carve(part, std::ssize(*numbers));
      }
    return parts.used();
  }

  device_memory memory_;
  const abi::table* there_ = nullptr;
};

/// The rows of a run's recorded time events in device memory, one copy for all chunks.
class records_on_device {
 public:
  explicit records_on_device(const plan& p) : memory_(bytes_of(p)) {
    if (!p.records) return;
    const device_stream stream;
    arena parts(memory_.address());
    std::vector<abi::record> list;
    parts.carve(there_, std::ssize(p.records->all()));
    for (const record& r : p.records->all()) {
      const auto numbers = r.rows.bytes() / sizeof(double);
      const double* rows = nullptr;
      parts.carve(rows, static_cast<std::int64_t>(numbers));
      if (numbers > 0) stream.upload(rows, r.rows.data(), numbers);
      list.push_back({rows});
    }
    stream.upload(there_, list.data(), list.size());
    stream.wait();
  }
  const abi::record* there() const { return there_; }

 private:
  /// Throws if the rows do not fit beside chunks.
  static std::size_t bytes_of(const plan& p) {
    if (!p.records) return 0;
    constexpr double most = 0.5;  // of the free memory: chunks need the rest
    arena parts(0);
    const abi::record* list;
    parts.carve(list, std::ssize(p.records->all()));
    for (const record& r : p.records->all()) {
      const double* rows;
      parts.carve(rows, static_cast<std::int64_t>(r.rows.bytes() / sizeof(double)));
    }
    const std::size_t left = device_in_use::memory_left();
    if (static_cast<double>(parts.used()) > most * static_cast<double>(left))
      throw error(exit_failure,
                  fmt::format("the rows of [records] take {} MiB, more than half of the {} MiB that are free "
                              "on the device: backend = \"cpu\", or parts of the ensemble with their own rows",
                              parts.used() >> 20, left >> 20));
    return parts.used();
  }

  device_memory memory_;
  const abi::record* there_ = nullptr;
};

/// The settings as kernels see them: every pointer is null or leads to device memory.
class settings_on_device {
 public:
  explicit settings_on_device(const plan& p) : tables_(p), records_(p), memory_(bytes_of(p)) {
    const device_stream stream;
    arena parts(memory_.address());
    each_list(p, how_, [&](auto& to, const auto& from) {
      parts.carve(to, std::ssize(from));
      stream.upload(to, from.data(), from.size());
    });
    stream.wait();
    how_.tables = tables_.there();
    how_.records = records_.there();
    // Gradients and dense linear algebra are for CPU lanes alone.
    how_.algebra = nullptr;
    how_.gradient_of = nullptr, how_.gradient_weights = nullptr, how_.gradient_count = 0;
    how_.data = nullptr, how_.data_count = 0;
  }
  const abi::settings& how() const { return how_; }

 private:
  /// body(pointer of the settings, the list that it leads to)
  template <class Body>
  static void each_list(const plan& p, abi::settings& how, Body&& body) {
    how = settings_of(p);
    body(how.atol, p.atol);
    body(how.sample_times, p.sample_times);
    body(how.windows, p.windows);
    body(how.logged_events, p.logged.events);
  }
  static std::size_t bytes_of(const plan& p) {
    abi::settings how;
    arena parts(0);
    each_list(p, how, [&](auto& to, const auto& from) { parts.carve(to, std::ssize(from)); });
    return parts.used();
  }

  tables_on_device tables_;
  records_on_device records_;
  device_memory memory_;
  abi::settings how_ = {};
};

}  // namespace saltus::host
