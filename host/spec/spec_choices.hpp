// The words of choices: one list for each enumeration, by which specs are read and from which messages, settings and
// texts of modules are made. abi/choices.hpp has the choices that kernels know.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "abi/choices.hpp"

namespace saltus::host {

/// The arithmetic of an integration.
enum class precision_kind { double_precision, single_precision };
inline constexpr const char* precision_names[] = {"double", "float"};
constexpr int bytes_of(precision_kind p) { return p == precision_kind::single_precision ? 4 : 8; }

/// The ways to integrate equations of any order: by structural analysis, or by the rank of the derivative array.
enum class structure_kind { analysis, array };
inline constexpr const char* structure_names[] = {"analysis", "array"};

/// Where instances are integrated. `automatic`: on the CUDA devices if there are any, else on the CPU. `all`: on both.
enum class backend_kind { automatic, cpu, cuda, all };
inline constexpr const char* backend_names[] = {"auto", "cpu", "cuda", "all"};

/// Word k names choice k.
template <class Choice>
inline constexpr std::span<const char* const> words_of;
template <>
inline constexpr std::span<const char* const> words_of<controller_kind> = controller_names;
template <>
inline constexpr std::span<const char* const> words_of<norm_kind> = norm_names;
template <>
inline constexpr std::span<const char* const> words_of<detection> = detection_names;
template <>
inline constexpr std::span<const char* const> words_of<coordinates> = coordinates_names;
template <>
inline constexpr std::span<const char* const> words_of<abi::consistency> = abi::consistency_names;
template <>
inline constexpr std::span<const char* const> words_of<precision_kind> = precision_names;
template <>
inline constexpr std::span<const char* const> words_of<structure_kind> = structure_names;
template <>
inline constexpr std::span<const char* const> words_of<backend_kind> = backend_names;

template <class Choice>
std::string word_of(Choice c) {
  return words_of<Choice>[static_cast<std::size_t>(c)];
}

}  // namespace saltus::host
