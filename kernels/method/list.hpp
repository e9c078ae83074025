// The list of all methods, which specs, modules and tests iterate over.
#pragma once

#include "method/estimate.hpp"
#include "method/method_concept.hpp"
#include "method/tableaus/bogacki_shampine_3.hpp"
#include "method/tableaus/dormand_prince_5.hpp"
#include "method/tableaus/dormand_prince_8.hpp"
#include "method/tableaus/esdirk_4.hpp"
#include "method/tableaus/fehlberg_5.hpp"
#include "method/tableaus/fehlberg_8.hpp"
#include "method/tableaus/infl_esdirk_4.hpp"
#include "method/tableaus/infl_sdirk_4.hpp"
#include "method/tableaus/infl_trapezoid_2.hpp"
#include "method/tableaus/kutta_3.hpp"
#include "method/tableaus/radau_13.hpp"
#include "method/tableaus/radau_5.hpp"
#include "method/tableaus/radau_9.hpp"
#include "method/tableaus/rdpk_5.hpp"
#include "method/tableaus/rodas_4.hpp"
#include "method/tableaus/rodas_5p.hpp"
#include "method/tableaus/runge_kutta_4.hpp"
#include "method/tableaus/sdirk_4.hpp"
#include "method/tableaus/taylor.hpp"
#include "method/tableaus/trapezoid_2.hpp"
#include "method/tableaus/tsitouras_5.hpp"

namespace saltus::methods {

template <class... Method>
struct list {
  static constexpr int size = sizeof...(Method);
};
template <class... A, class... B>
constexpr list<A..., B...> operator+(list<A...>, list<B...>) {
  return {};
}

/// body(Method{}) for every method of a list, in its order.
template <class... Method, class F>
constexpr SALTUS_FN void for_each(list<Method...>, F&& body) {
  (body(Method{}), ...);
}

namespace detail {
template <bool IsIn, class Method>
struct list_if {
  using type = list<>;
};
template <class Method>
struct list_if<true, Method> {
  using type = list<Method>;
};
enum class family { runge_kutta, series, implicit, mechanical };
template <class Method>
constexpr family family_of() {
  if constexpr (is_series_method<Method>) return family::series;
  else if constexpr (Method::is_explicit) return family::runge_kutta;
  else return Method::for_mechanics ? family::mechanical : family::implicit;
}
template <family Family, class... Method>
constexpr auto those(list<Method...>) {
  return (list<>{} + ... + typename list_if<family_of<Method>() == Family, Method>::type{});
}
}  // namespace detail

/// The one list of all methods.
using all_methods =
    list<kutta_3, bogacki_shampine_3, runge_kutta_4, fehlberg_5, fehlberg_8, dormand_prince_5, tsitouras_5,
         dormand_prince_8, rdpk_5, taylor_8, taylor_12, taylor_16, taylor_20, trapezoid_2, sdirk_4, esdirk_4, rodas_4,
         rodas_5p, radau_5, radau_9, radau_13, infl_trapezoid_2, infl_sdirk_4, infl_esdirk_4>;

/// Explicit Runge-Kutta methods, which have a tableau.
using explicit_methods = decltype(detail::those<detail::family::runge_kutta>(all_methods{}));
using series_methods = decltype(detail::those<detail::family::series>(all_methods{}));
using implicit_methods = decltype(detail::those<detail::family::implicit>(all_methods{}));
/// Implicit methods that integrate mechanical models alone.
using mechanical_methods = decltype(detail::those<detail::family::mechanical>(all_methods{}));

}  // namespace saltus::methods
