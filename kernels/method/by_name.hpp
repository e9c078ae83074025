// The method that a spec calls "dp5", as a type.
#pragma once

#include "method/tableaus.hpp"

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
template <text Name, class... Method>
struct find;
template <text Name, class First, class... Rest>
struct find<Name, First, Rest...> {
  static constexpr auto pick() {
    if constexpr (Name.equals(First::name)) return First{};
    else return typename find<Name, Rest...>::type{};
  }
  using type = decltype(pick());
};
template <text Name, class List>
struct find_in;
template <text Name, class... Method>
struct find_in<Name, list<Method...>> : find<Name, Method...> {};
}  // namespace detail

template <text Name>
using by_name = typename detail::find_in<Name, all>::type;

}  // namespace saltus::methods
