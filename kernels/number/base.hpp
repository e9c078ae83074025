// Included by every kernel header: function attributes, integers, compile-time loops. Nothing from the standard library, which NVRTC lacks.
#pragma once

#if defined(__CUDACC__) || defined(__CUDACC_RTC__)
#define SALTUS_FN __host__ __device__ __forceinline__
#define SALTUS_FN_COLD __host__ __device__
#define SALTUS_FN_APART __host__ __device__
#define SALTUS_FN_FLAT SALTUS_FN
#define SALTUS_INLINE_LAMBDA
#elif defined(SALTUS_RUNS_ONCE)  // descriptions: not optimised, so inlining would triple the code
#define SALTUS_FN inline
#define SALTUS_FN_COLD inline
#define SALTUS_FN_APART inline
#define SALTUS_FN_FLAT inline
#define SALTUS_INLINE_LAMBDA
#elif defined(__GNUC__)
#define SALTUS_FN inline __attribute__((always_inline))
#define SALTUS_FN_COLD inline __attribute__((noinline))
#define SALTUS_FN_APART inline __attribute__((noinline, flatten))  // out of line, with all of its calls inlined
#define SALTUS_FN_FLAT SALTUS_FN_APART
#define SALTUS_INLINE_LAMBDA __attribute__((always_inline))
#else
#error "saltus kernels need g++, clang, nvcc or NVRTC"
#endif

namespace saltus {

using int32 = int;
using int64 = long long;
using uint64 = unsigned long long;
static_assert(sizeof(int32) == 4 && sizeof(int64) == 8);

/// True if A and B are the same type. (NVRTC has no built-in for it.)
template <class A, class B>
inline constexpr bool is_same = false;
template <class A>
inline constexpr bool is_same<A, A> = true;

/// True for plain numbers, as literals are; false for truth values and enumerators.
template <class T>
inline constexpr bool is_number = false;
template <>
inline constexpr bool is_number<int> = true;
template <>
inline constexpr bool is_number<unsigned> = true;
template <>
inline constexpr bool is_number<long> = true;
template <>
inline constexpr bool is_number<unsigned long> = true;
template <>
inline constexpr bool is_number<int64> = true;
template <>
inline constexpr bool is_number<uint64> = true;
template <>
inline constexpr bool is_number<float> = true;
template <>
inline constexpr bool is_number<double> = true;

/// A compile-time integer that converts to int: the argument of the body of a `static_for`.
template <int I>
struct constant {
  static constexpr int value = I;
  constexpr SALTUS_FN operator int() const { return I; }
};

namespace detail {
template <int... I>
struct index_list {};
#if defined(__CUDACC__) || defined(__CUDACC_RTC__) || defined(__clang__)
template <int N, int... I>
struct make_index_list : make_index_list<N - 1, N - 1, I...> {};
template <int... I>
struct make_index_list<0, I...> {
  using type = index_list<I...>;
};
template <int N>
using indices = typename make_index_list<N>::type;
#else
template <int N>
using indices = index_list<__integer_pack(N)...>;
#endif
template <class F, int... I>
SALTUS_FN constexpr void unroll(F&& body, index_list<I...>) {
  (body(constant<I>{}), ...);
}
}  // namespace detail

/// body(constant<0>), ..., body(constant<N-1>): unrolled, the index usable as a template argument. Short loops are written out: a compiler
/// optimises every inlined function before it inlines it into its caller, so each function between caller and body costs compile time.
template <int N, class F>
SALTUS_FN constexpr void static_for(F&& body) {
  if constexpr (N <= 8) {
    if constexpr (N > 0) body(constant<0>{});
    if constexpr (N > 1) body(constant<1>{});
    if constexpr (N > 2) body(constant<2>{});
    if constexpr (N > 3) body(constant<3>{});
    if constexpr (N > 4) body(constant<4>{});
    if constexpr (N > 5) body(constant<5>{});
    if constexpr (N > 6) body(constant<6>{});
    if constexpr (N > 7) body(constant<7>{});
  } else {
    detail::unroll(static_cast<F&&>(body), detail::indices<N>{});
  }
}

/// Longer loops are not unrolled. On a device, an array that a loop indexes lies in slow local memory.
#if defined(__CUDACC__) || defined(__CUDACC_RTC__)
inline constexpr int max_unrolled = 24;
#else
inline constexpr int max_unrolled = 12;
#endif

/// body(0), ..., body(N-1): unrolled while N is small; beyond that an ordinary loop, so that 200 states still compile.
template <int N, class F>
SALTUS_FN constexpr void each(F&& body) {
  if constexpr (N <= 8) {
    if constexpr (N > 0) body(0);
    if constexpr (N > 1) body(1);
    if constexpr (N > 2) body(2);
    if constexpr (N > 3) body(3);
    if constexpr (N > 4) body(4);
    if constexpr (N > 5) body(5);
    if constexpr (N > 6) body(6);
    if constexpr (N > 7) body(7);
  } else if constexpr (N <= max_unrolled) {
    static_for<N>([&](auto i) SALTUS_INLINE_LAMBDA { body(static_cast<int>(i)); });
  } else {
#if defined(__CUDACC__) || defined(__CUDACC_RTC__)
#pragma unroll 1
#endif
    for (int i = 0; i < N; ++i) body(i);
  }
}

/// A fixed number of values; none are allowed.
template <class Real, int N>
struct vec {
  using value_type = Real;
  static constexpr int size = N;
  Real data[N];

  SALTUS_FN constexpr Real& operator[](int i) { return data[i]; }
  SALTUS_FN constexpr const Real& operator[](int i) const { return data[i]; }
};

template <class Real>
struct vec<Real, 0> {
  using value_type = Real;
  static constexpr int size = 0;
  Real data[1] = {};  ///< so that an index still names something; never used

  SALTUS_FN constexpr Real& operator[](int i) { return data[i]; }
  SALTUS_FN constexpr const Real& operator[](int i) const { return data[i]; }
};

}  // namespace saltus
