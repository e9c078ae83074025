// The choice of the form for the equations of a model: the one place where it is made. A new form is a file beside this one and a line
// here; a model may also bring a form of its own, as a member template `form`.
#pragma once

#include "form/any_order.hpp"
#include "form/derivative_array_form.hpp"
#include "form/growth.hpp"
#include "form/integrals.hpp"
#include "form/mass.hpp"
#include "form/mechanical.hpp"
#include "form/plain.hpp"
#include "form/residual.hpp"
#include "form/semi_explicit.hpp"
#include "form/sensitivities.hpp"
#include "form/sliding.hpp"

namespace saltus {

namespace detail {

template <class Form>
struct form_type {
  using type = Form;
};

template <class Functions>
constexpr auto choose_form() {
  using Model = typename Functions::Model;
  constexpr auto kind = contract<Model>::equations;
  if constexpr (requires { typename Model::template form<Functions>; })
    return form_type<typename Model::template form<Functions>>{};
  else if constexpr (is_mechanical<Model>) return form_type<mechanical_form<Functions>>{};
  else if constexpr (requires { offsets_of<Model>.times; }) return form_type<derivative_array_form<Functions>>{};
  else if constexpr (kind == equations::any_order) return form_type<any_order_form<Functions>>{};
  else if constexpr (kind == equations::implicit) return form_type<residual_form<Functions>>{};
  else if constexpr (kind == equations::with_mass) return form_type<mass_form<Functions>>{};
  else if constexpr (kind == equations::semi_explicit) return form_type<semi_explicit_form<Functions>>{};
  else if constexpr (Functions::slides) return form_type<sliding<plain_form<Functions>>>{};
  else return form_type<plain_form<Functions>>{};
}

}  // namespace detail

/// The form of a model, in time that runs forward or backward.
template <class Model, class Time = forward_time>
using form_of = typename decltype(detail::choose_form<model_functions<Model, Time>>())::type;

}  // namespace saltus
