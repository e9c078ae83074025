// Charts as SVG text: logarithmic axes, lines with points, a legend; readable on light and on dark ground.
#pragma once

#include <string>
#include <vector>

namespace saltus::host {

struct chart_point {
  double x, y;
  double low = 0, high = 0;  ///< of y; equal: no bar
};
struct chart_line {
  std::string name;
  std::vector<chart_point> points;
};
/// A place worth a word: a dashed line at x.
struct chart_mark {
  double x;
  std::string text;
};
struct chart {
  std::string title, x_label, y_label;
  std::vector<chart_line> lines;
  std::vector<chart_mark> marks;
};

/// Both axes are logarithmic; what is not positive is left out. At most six lines.
std::string svg_text(const chart& c);

}  // namespace saltus::host
