#include "bench/svg.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace saltus::host {

namespace {

constexpr double width = 760, height = 460, left = 84, right = 24, top = 48, bottom = 64;

/// Powers of ten around all values, and where a value lies between them.
struct log_axis {
  int first, last;  ///< exponents
  double from, to;  ///< coordinates of both ends

  double operator()(double value) const { return from + (std::log10(value) - first) / (last - first) * (to - from); }
};

log_axis axis_around(const std::vector<double>& values, double from, double to) {
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  log_axis a{0, 1, from, to};
  if (values.empty()) return a;
  a.first = static_cast<int>(std::floor(std::log10(*low) + 1e-9));
  a.last = std::max(a.first + 1, static_cast<int>(std::ceil(std::log10(*high) - 1e-9)));
  return a;
}

std::string escaped(const std::string& text) {
  std::string r;
  for (const char c : text) r += c == '<' ? "&lt;" : c == '>' ? "&gt;" : c == '&' ? "&amp;" : std::string(1, c);
  return r;
}

std::string power_text(double x, double y, int exponent, const char* anchor) {
  return fmt::format(
      "<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">10<tspan dy=\"-6\" font-size=\"10\">{}</tspan></text>\n", x,
      y, anchor, exponent);
}

std::string grid(const log_axis& x, const log_axis& y) {
  std::string r;
  for (int e = x.first; e <= x.last; ++e) {
    const double at = x(std::pow(10.0, e));
    r += fmt::format("<path class=\"grid\" d=\"M{0:.1f} {1:.1f}V{2:.1f}\"/>\n", at, top, height - bottom);
    r += power_text(at, height - bottom + 22, e, "middle");
  }
  for (int e = y.first; e <= y.last; ++e) {
    const double at = y(std::pow(10.0, e));
    r += fmt::format("<path class=\"grid\" d=\"M{0:.1f} {1:.1f}H{2:.1f}\"/>\n", left, at, width - right);
    r += power_text(left - 10, at + 4, e, "end");
  }
  r += "<path class=\"tick\" d=\"";
  for (int e = x.first; e < x.last; ++e)
    for (int k = 2; k < 10; ++k) r += fmt::format("M{:.1f} {:.1f}v-4", x(k * std::pow(10.0, e)), height - bottom);
  for (int e = y.first; e < y.last; ++e)
    for (int k = 2; k < 10; ++k) r += fmt::format("M{:.1f} {:.1f}h4", left, y(k * std::pow(10.0, e)));
  r += fmt::format("\"/>\n<rect class=\"frame\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/>\n", left, top,
                   width - left - right, height - top - bottom);
  return r;
}

std::string line_text(const chart_line& line, std::size_t number, const log_axis& x, const log_axis& y) {
  std::string path, rest;
  for (const auto& p : line.points) {
    const double px = x(p.x), py = y(p.y);
    path += fmt::format("{}{:.1f} {:.1f}", path.empty() ? "M" : "L", px, py);
    if (p.low > 0 && p.low < p.high)
      rest += fmt::format("<path d=\"M{:.1f} {:.1f}V{:.1f}\"/>", px, y(p.low), y(p.high));
    rest += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3.5\"/>", px, py);
  }
  return fmt::format("<g class=\"line{}\"><path d=\"{}\"/>{}</g>\n", number, path, rest);
}

// Colours that people with any colour vision tell apart (Okabe, Ito), somewhat lighter on dark ground.
constexpr const char* style =
    "<style>\n"
    "svg { background: #ffffff; color: #1a1a1a; font: 13px sans-serif; }\n"
    "text { fill: currentColor; } .title { font-size: 15px; }\n"
    ".grid { stroke: currentColor; opacity: .15; } .tick, .frame, .mark { stroke: currentColor; fill: none; }\n"
    ".mark { stroke-dasharray: 5 4; }\n"
    "g path { fill: none; stroke-width: 2; }\n"
    ".line0 { stroke: #0072b2; fill: #0072b2; } .line1 { stroke: #d55e00; fill: #d55e00; }\n"
    ".line2 { stroke: #009e73; fill: #009e73; } .line3 { stroke: #cc79a7; fill: #cc79a7; }\n"
    ".line4 { stroke: #8c6d00; fill: #8c6d00; } .line5 { stroke: #5c5c5c; fill: #5c5c5c; }\n"
    "@media (prefers-color-scheme: dark) {\n"
    "svg { background: #161a20; color: #e6e6e6; }\n"
    ".line0 { stroke: #56b4e9; fill: #56b4e9; } .line1 { stroke: #ff8c42; fill: #ff8c42; }\n"
    ".line2 { stroke: #2ecc9b; fill: #2ecc9b; } .line4 { stroke: #f0e442; fill: #f0e442; }\n"
    ".line5 { stroke: #b0b0b0; fill: #b0b0b0; }\n"
    "}\n"
    "</style>\n";

}  // namespace

std::string svg_text(const chart& c) {
  std::vector<double> xs, ys;
  std::vector<chart_line> lines = c.lines;
  for (auto& line : lines) {
    std::erase_if(line.points, [](const chart_point& p) { return !(p.x > 0 && p.y > 0); });
    for (const auto& p : line.points) {
      xs.push_back(p.x);
      ys.push_back(p.y);
      if (p.low > 0) ys.push_back(p.low);
      if (p.high > 0) ys.push_back(p.high);
    }
  }
  const log_axis x = axis_around(xs, left, width - right), y = axis_around(ys, height - bottom, top);
  std::string r = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\" role=\"img\">\n"
      "<title>{2}</title>\n{3}",
      width, height, escaped(c.title), style);
  r += grid(x, y);
  r += fmt::format("<text class=\"title\" x=\"{}\" y=\"26\">{}</text>\n", left, escaped(c.title));
  r += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{}</text>\n", (left + width - right) / 2,
                   height - 18, escaped(c.x_label));
  r += fmt::format("<text transform=\"translate(22 {:.1f}) rotate(-90)\" text-anchor=\"middle\">{}</text>\n",
                   (top + height - bottom) / 2, escaped(c.y_label));
  for (const auto& mark : c.marks) {
    if (!(mark.x > 0)) continue;
    r += fmt::format("<path class=\"mark\" d=\"M{0:.1f} {1}V{2}\"/>\n<text x=\"{3:.1f}\" y=\"{4}\">{5}</text>\n",
                     x(mark.x), top, height - bottom, x(mark.x) + 6, top + 16, escaped(mark.text));
  }
  for (std::size_t i = 0; i < lines.size() && i < 6; ++i) r += line_text(lines[i], i, x, y);
  for (std::size_t i = 0; i < lines.size() && i < 6; ++i) {
    const double at = height - bottom - 20 - 20 * static_cast<double>(lines.size() - 1 - i);
    r += fmt::format(
        "<g class=\"line{0}\"><path d=\"M{1} {2}h26\"/><circle cx=\"{3}\" cy=\"{2}\" r=\"3.5\"/></g>"
        "<text x=\"{4}\" y=\"{5}\">{6}</text>\n",
        i, width - right - 250, at, width - right - 237, width - right - 216, at + 4, escaped(lines[i].name));
  }
  return r + "</svg>\n";
}

}  // namespace saltus::host
