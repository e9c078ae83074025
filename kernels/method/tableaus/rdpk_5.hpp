// Ranocha-Dalcin-Parsani-Ketcheson 5(4), low storage.
#pragma once

#include "method/explicit_method.hpp"

namespace saltus::methods {

// clang-format off

/// This method needs the fewest evaluations for a given accuracy of all methods of the paper, and its nodes lie within the step. (Those of
/// the 4(3) pair, which is more stable for its cost, lie between -0.68 and 1.67.) e = b - b_hat.
struct rdpk_5 : low_storage_method {
  static constexpr const char* name   = "rdpk510";
  static constexpr const char* title  = "Ranocha-Dalcin-Parsani-Ketcheson 5(4), low storage";
  static constexpr const char* source = "H. Ranocha, L. Dalcin, M. Parsani, D. I. Ketcheson, "
                                        "Commun. Appl. Math. Comput. 4 (2022) 1191: RK5(4)10[3S*+ FSAL]; "
                                        "coefficients: github.com/ranocha/Optimized-RK-CFD, 3SstarpFSAL510.txt";
  static constexpr int  order          = 5;
  static constexpr int  embedded_order = 4;
  static constexpr int  stages         = 11;
  static constexpr double c[12] = {0, 0.2597883554788674084040, 0.09904573247592460887087, 0.2155511890524058691860,
                                   0.5007950088969676776844, 0.5592251911688643533788, 0.5449986978853637084973,
                                   0.7615224694532590139829, 0.8427062083267360939805, 0.9152209805057669959658, 1.0,
                                   1.0 / 4};
  static constexpr double gamma1[10] = {0, 0.4043660121685749695640, -0.8503427289575839690883,
                                        -6.950894175262117526410, 0.9238765192731084931855, -2.563178056509891340216,
                                        0.2545744879365226143946, 0.3125831707411998258747, -0.7007114414440507927791,
                                        0.4839621016023833375810};
  static constexpr double gamma2[10] = {1.0, 0.6871467028161416909922, 1.093024748914750833701,
                                        3.225975379607193001678, 1.041153702510101386914, 1.292821487912164945158,
                                        0.7391462755788122847651, 0.1239129251371800313942, 0.1842753472370123193132,
                                        0.05712788998796583446479};
  static constexpr double delta[10] = {1.0, -0.1331778419508803397033, 0.8260422814750207498262,
                                       1.513700425755728332485, -1.305810059935023735972, 3.036678802924163246003,
                                       -1.449458274398895177923, 3.834313899176362315090, 4.122293760012985409331, 0};
  static constexpr double beta[10] = {0.2597883554788674084040, 0.01777008889438867858759, 0.2481636629715501931295,
                                      0.7941736871152005775822, 0.3885391285642019129576, 0.1455051657916305055731,
                                      0.1587517385964749337691, 0.1650605617880053419242, 0.2118093284937153836909,
                                      0.1559392342362059886107};
  static constexpr double b[11] = {-0.002280100321836980811831, 0.01407393115790186300731, 0.2332691775508456597720,
                                   0.04808266741353862546319, 0.4119003217706951892386, -0.1291461067807736321057,
                                   0.1220746013848710098878, 0.04357858583174420432201, 0.1025076877568080726159,
                                   0.1559392342362059886107, 0};
  static constexpr double e[11] = {0.01791245407828367999726, -0.01330510365168998039202, -0.06961268606375089366452,
                                   0.08465110621976084736390, 0.01363384430301841625226, -0.07198651256936677773886,
                                   0.02357605034638542667823, -0.02296742969281664546414, 0.01177289232932694535124,
                                   0.07161634098289794936178, -0.04529095628204896774513};
};

// clang-format on

}  // namespace saltus::methods
