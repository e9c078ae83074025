// The Mackey-Glass equation: white blood cells are made according to their density a delay ago, since they take that long to ripen. With a
// short delay the density comes to rest; it oscillates beyond a delay of 4.7, and is chaotic from 17 on.
#include <saltus.hpp>

struct mackey_glass {
  static constexpr auto title = "Mackey-Glass equation";
  static constexpr auto source =
      "M. C. Mackey, L. Glass, Science 197 (1977) 287; problem A1 of W. H. Enright, H. Hayashi (1997)";
  static constexpr double span[] = {0.0, 500.0};
  static constexpr auto time_unit = "d";

  enum state { density };
  static constexpr saltus::variable<state> state_list[] = {{density, 0.5, "1", "density of cells in the blood"}};

  enum parameter { production, decay, steepness, ripening };
  static constexpr saltus::variable<parameter> parameter_list[] = {
      {production, 0.2, "1/d", "rate of production at a low density"},
      {decay, 0.1, "1/d", "rate at which cells are lost"},
      {steepness, 10.0, "1", "exponent of the feedback"},
      {ripening, 14.0, "d", "time in which cells ripen"},
  };

  enum delay { in_marrow };
  static constexpr saltus::lag<delay> delay_list[] = {{in_marrow, "cells ripen in the marrow"}};

  static void delays(const auto& at, auto& lag) { lag[in_marrow] = at[ripening]; }

  static void rhs(const auto& at, auto& dy) {
    const auto then = at.delayed(density, in_marrow);
    dy[density] = at[production] * then / (1.0 + pow(then, at[steepness])) - at[decay] * at[density];
  }
};
