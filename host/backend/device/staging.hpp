// Copies between host memory that is not pinned and a device.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <vector>

#include "backend/device/device_driver.hpp"

namespace saltus::host {

/// Copies columns between pageable host memory and a device through two halves of pinned memory. Columns gather in one half
/// until it is full; then the host fills or empties the other while the device copies.
class device_staging {
 public:
  /// `most`: bytes that are under way at once in most cases. More go in turns.
  device_staging(const device_stream& stream, std::size_t most)
      : stream_(stream), size_(std::clamp((most + apart - 1) / apart * apart, smallest, largest)) {}

  /// On return `from` has been read; the copies may still be in the stream.
  template <class Number>
  void upload(const Number* to, const Number* from, std::size_t count) {
    pieces(count * sizeof(Number), [&](std::size_t at, std::size_t bytes, unsigned char* room) {
      std::memcpy(room, reinterpret_cast<const unsigned char*>(from) + at, bytes);
      stream_.upload(reinterpret_cast<const unsigned char*>(to) + at, room, bytes);
    });
  }
  /// `to` is complete after `land`.
  template <class Number>
  void download(Number* to, const Number* from, std::size_t count) {
    pieces(count * sizeof(Number), [&](std::size_t at, std::size_t bytes, unsigned char* room) {
      stream_.download(room, reinterpret_cast<const unsigned char*>(from) + at, bytes);
      half().on_their_way.push_back({reinterpret_cast<unsigned char*>(to) + at, room, bytes});
    });
  }
  /// Waits for all copies.
  void land() {
    if (half().used > 0) half().there.put_into(stream_);
    for (const int number : {1 - turn_, turn_}) empty(halves_[number]);
  }

 private:
  static constexpr std::size_t apart = 256;  ///< pieces begin at multiples of it
  /// Limits of the size of a half in bytes. The driver takes half a millisecond for each MiB of pinned memory.
  static constexpr std::size_t smallest = std::size_t{1} << 16, largest = std::size_t{1} << 20;

  struct download_piece {
    unsigned char* to;
    const unsigned char* from;
    std::size_t bytes;
  };
  struct half_of_memory {
    std::size_t used = 0;
    std::vector<download_piece> on_their_way = {};
    /// In the stream, after the last copy from or to a half that is full. Copies take some 100 us.
    device_event there{device_event::kind::mark, device_event::waiting::awake};
  };

  half_of_memory& half() { return halves_[turn_]; }

  /// body(offset, bytes, pinned memory) for pieces of a column.
  template <class F>
  void pieces(std::size_t bytes, F&& body) {
    for (std::size_t at = 0; at < bytes;) {
      if (half().used == size_) swap();
      const std::size_t some = std::min(size_ - half().used, bytes - at);
      unsigned char* const room = memory_.address() + static_cast<std::size_t>(turn_) * size_ + half().used;
      half().used = std::min(size_, (half().used + some + apart - 1) / apart * apart);
      body(at, some, room);
      at += some;
    }
  }
  void swap() {
    half().there.put_into(stream_);
    turn_ = 1 - turn_;
    empty(half());
  }
  static void empty(half_of_memory& half) {
    if (half.used == 0) return;
    half.there.wait();
    for (const auto& [to, from, bytes] : half.on_their_way) std::memcpy(to, from, bytes);
    half.on_their_way.clear();
    half.used = 0;
  }

  const device_stream& stream_;
  std::size_t size_;  ///< of a half
  pinned_memory memory_{2 * size_};
  half_of_memory halves_[2];
  int turn_ = 0;
};

}  // namespace saltus::host
