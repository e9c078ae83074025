// problems/mao_1.hpp without its longest step: only detection keeps a step from passing over its zeros.
#include "../../problems/mao_1.hpp"

struct mao_1_free {
  using growth = mao_1;
  static constexpr auto title = "Mao problem 1 without a longest step";
  static constexpr auto source = growth::source;
  static constexpr const auto& span = growth::span;

  using state = growth::state;
  using guard = growth::guard;
  static constexpr const auto& state_list = growth::state_list;
  static constexpr const auto& guard_list = growth::guard_list;

  static void rhs(const auto& at, auto& dy) { growth::rhs(at, dy); }
  static void guards(const auto& at, auto& g) { growth::guards(at, g); }
};
