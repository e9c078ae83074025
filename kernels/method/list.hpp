// Every method there is, once: what specs, modules and tests go through.
#pragma once

#include "method/estimate.hpp"
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
#include "method/tableaus/radau_5.hpp"
#include "method/tableaus/rdpk_5.hpp"
#include "method/tableaus/rodas_4.hpp"
#include "method/tableaus/rodas_5p.hpp"
#include "method/tableaus/runge_kutta_4.hpp"
#include "method/tableaus/sdirk_4.hpp"
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
template <bool Explicit, bool ForMechanics, class... Method>
constexpr auto those(list<Method...>) {
  return (list<>{} + ... + typename list_if < Method::is_explicit == Explicit && Method::for_mechanics == ForMechanics,
          Method > ::type{});
}
}  // namespace detail

/// The one list.
using all_methods = list<kutta_3, bogacki_shampine_3, runge_kutta_4, fehlberg_5, fehlberg_8, dormand_prince_5,
                         tsitouras_5, dormand_prince_8, rdpk_5, trapezoid_2, sdirk_4, esdirk_4, rodas_4, rodas_5p,
                         radau_5, infl_trapezoid_2, infl_sdirk_4, infl_esdirk_4>;

using explicit_methods = decltype(detail::those<true, false>(all_methods{}));
using implicit_methods = decltype(detail::those<false, false>(all_methods{}));
/// Implicit ones that integrate nothing but mechanical models.
using mechanical_methods = decltype(detail::those<false, true>(all_methods{}));

}  // namespace saltus::methods
