// In place of the header of SSE2 for processors without it: what Boost's Lanczos sums use of it (host/spec/distribution.cpp). Each
// operation rounds as that of SSE2, so inputs drawn from beta and gamma distributions have the same bits.
#pragma once

typedef double __m128d __attribute__((vector_size(16)));

inline __m128d _mm_load_pd(const double* x) { return __m128d{x[0], x[1]}; }
inline __m128d _mm_load1_pd(const double* x) { return __m128d{*x, *x}; }
inline __m128d _mm_add_pd(__m128d a, __m128d b) { return a + b; }
inline __m128d _mm_mul_pd(__m128d a, __m128d b) { return a * b; }
inline void _mm_store_pd(double* x, __m128d a) { x[0] = a[0], x[1] = a[1]; }
