// The method named in a spec, such as "dp5", as a type.
#pragma once

#include "method/list.hpp"

namespace saltus::methods {

/// A string that may be a template argument.
template <int N>
struct text {
  char chars[N];
  constexpr text(const char (&from)[N]) {
    for (int i = 0; i < N; ++i) chars[i] = from[i];
  }
  constexpr bool equals(const char* other) const {
    for (int i = 0; i < N; ++i)
      if (chars[i] != other[i]) return false;
    return true;
  }
};

namespace detail {
template <text Name, class First, class... Rest>
constexpr auto find(list<First, Rest...>) {
  if constexpr (Name.equals(First::name)) return First{};
  else return find<Name>(list<Rest...>{});
}
}  // namespace detail

template <text Name>
using by_name = decltype(detail::find<Name>(all_methods{}));

}  // namespace saltus::methods
