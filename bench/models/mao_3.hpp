// problems/bok_1.hpp with the update u <- -y1, which the numbers of Mao and Petzold's table 2 follow; their text and Compere
// have u <- -u y1.
#include "../../problems/bok_1.hpp"

struct mao_3 : bok_1 {
  static constexpr auto title = "Mao problem 3 as tabulated: near-tangent bilateral events";

  static void transition(auto& now) {
    if (now.due(line)) now[u] = -now[y1];
  }
};
