// What every file of kernel loops shares: names, item types, the pragma that
// marks a loop as safe to vectorise, and the macros that make a kernel of an
// expression:
//
//   TL_BINARY(add_float64, double, double, x + y)
//
// defines tl_k_add_float64_avx2(out, a, b, n) where the file is compiled with
// TL_ISA=avx2. Files are compiled once for each instruction set, so all names
// go through TL_K.
#pragma once

#include <math.h>
#include <string.h>

#include "vm/kernels/kernels.h"

// The instruction set this file is compiled for; kernels are named for it.
#ifndef TL_ISA
#define TL_ISA base
#endif
// Two steps, so that TL_ISA is expanded before it is pasted.
#define TL_PASTE_(a, b, c) a##b##_##c
#define TL_PASTE(a, b, c) TL_PASTE_(a, b, c)
#define TL_K(name) TL_PASTE(tl_k_, name, TL_ISA)
#define TL_TEXT_(x) #x
// The text of a macro's value.
#define TL_TEXT(x) TL_TEXT_(x)

// Tells the compiler that iterations of the next loop do not depend on each
// other, which holds for exact aliases too; `restrict` would make those
// undefined.
#ifdef __clang__
#pragma clang diagnostic ignored "-Wpass-failed"  // it is leave, not a demand
#define TL_LOOP \
  _Pragma("clang loop vectorize(assume_safety) interleave_count(2)")
#else
#define TL_LOOP _Pragma("GCC ivdep")
#endif

// 1: the set is to be small. Its loops take one row or one vector at a time
// where others take several, which changes no result.
#ifndef TL_SMALL
#define TL_SMALL 0
#endif

// 1: vectors' items can be put in another order, which GCC before 12 cannot.
#if defined(__has_builtin)
#if __has_builtin(__builtin_shufflevector)
#define TL_SHUFFLES 1
#endif
#endif
#ifndef TL_SHUFFLES
#define TL_SHUFFLES 0
#endif

// For short loops whose arrays are to stay in registers.
#if TL_SMALL
#define TL_SPELL_OUT
#elif defined(__clang__)
#define TL_SPELL_OUT _Pragma("clang loop unroll(full)")
#else
#define TL_SPELL_OUT _Pragma("GCC unroll 16")
#endif

// For loops of a few instructions that are no vectors.
#ifdef __clang__
#define TL_BY_FOUR _Pragma("clang loop unroll_count(4)")
#else
#define TL_BY_FOUR _Pragma("GCC unroll 4")
#endif

// Items of any dtype, moved as words of their size: such words may alias them.
typedef uint8_t tl_word1;
typedef uint16_t __attribute__((may_alias)) tl_word2;
typedef uint32_t __attribute__((may_alias)) tl_word4;
// Complex items are aligned as their parts are.
typedef uint64_t __attribute__((may_alias, aligned(4))) tl_word8;
// What is sorted lies in memory of our own.
typedef uint64_t __attribute__((may_alias)) tl_key8;
typedef struct {
  uint64_t low, high;
} __attribute__((may_alias)) tl_word16;

// For parts of a loop, which only vectorise inside of it.
#define TL_INLINE static inline __attribute__((always_inline))

// Keeps a product from being fused with what follows: GCC 12.2 pairs the
// halves of complex products into one fused instruction (its bug 107647).
#define TL_DISJOINT(x) __asm__("" : "+m"(x))

// X(DTYPE, suffix, item type, type to compute in)
//
// Integers compute in unsigned types, because signed overflow is undefined in
// C and wraps in Tally; 16 bits compute in 32, as int would overflow.
#define TL_UNSIGNED(X)                  \
  X(UINT8, uint8, uint8_t, uint32_t)    \
  X(UINT16, uint16, uint16_t, uint32_t) \
  X(UINT32, uint32, uint32_t, uint32_t) \
  X(UINT64, uint64, uint64_t, uint64_t)
#define TL_SIGNED(X)                 \
  X(INT8, int8, int8_t, uint32_t)    \
  X(INT16, int16, int16_t, uint32_t) \
  X(INT32, int32, int32_t, uint32_t) \
  X(INT64, int64, int64_t, uint64_t)
#define TL_INTEGERS(X) TL_SIGNED(X) TL_UNSIGNED(X)
#define TL_FLOATS(X)                \
  X(FLOAT32, float32, float, float) \
  X(FLOAT64, float64, double, double)
#define TL_COMPLEXES(X)                  \
  X(COMPLEX64, complex64, tl_c64, float) \
  X(COMPLEX128, complex128, tl_c128, double)

// The number of items in a vector of the instruction set.
#if defined(__AVX512BW__)
#define TL_LANES(T) (64 / sizeof(T))
#elif defined(__AVX2__)
#define TL_LANES(T) (32 / sizeof(T))
#else
#define TL_LANES(T) (16 / sizeof(T))
#endif

// to[i] = result for i in [0, n); what comes after it declares what it is made
// of, from operands at [i], whose items are as wide if [even]. What is left
// behind whole vectors then is no loop of single items but one more vector,
// which ends with the last item. It is computed first, as the loop may write
// over its operands.
#define TL_EACH(LOOP, T, to, n, result, ...) \
  LOOP for (size_t i = 0; i < n; i++) {      \
    __VA_ARGS__;                             \
    to[i] = (T)(result);                     \
  }
#ifdef __OPTIMIZE_SIZE__
#define TL_ITEMS(T, even, to, n, result, ...) \
  TL_EACH(TL_LOOP, T, to, n, result, __VA_ARGS__)
#else
#define TL_ITEMS(T, even, to, n, result, ...)                   \
  if (!(even)) {                                                \
    TL_EACH(TL_LOOP, T, to, n, result, __VA_ARGS__)             \
  } else if (n < TL_LANES(T)) {                                 \
    TL_EACH(, T, to, n, result, __asm__(""); __VA_ARGS__)       \
  } else {                                                      \
    T last[TL_LANES(T)];                                        \
    const size_t begin = n - TL_LANES(T);                       \
    TL_LOOP for (size_t lane = 0; lane < TL_LANES(T); lane++) { \
      const size_t i = begin + lane;                            \
      __VA_ARGS__;                                              \
      last[lane] = (T)(result);                                 \
    }                                                           \
    const size_t whole = (n - 1) / TL_LANES(T) * TL_LANES(T);   \
    TL_EACH(TL_LOOP, T, to, whole, result, __VA_ARGS__)         \
    memcpy(to + begin, last, sizeof last);                      \
  }
#endif

// void name(out, a, n): out[i] = expr of x, which is a[i].
#define TL_UNARY(name, T, R, expr)                                        \
  void TL_K(name)(void *out, const void *a, size_t n) {                   \
    R *to = out;                                                          \
    const T *from = a;                                                    \
    TL_ITEMS(R, sizeof(T) == sizeof(R), to, n, expr, const T x = from[i]) \
  }

// void name(out, a, b, n): out[i] = expr of x and y, which are a[i] and b[i].
#define TL_BINARY(name, T, R, expr)                                         \
  void TL_K(name)(void *out, const void *a, const void *b, size_t n) {      \
    R *to = out;                                                            \
    const T *from_a = a, *from_b = b;                                       \
    TL_ITEMS(R, sizeof(T) == sizeof(R), to, n, expr, const T x = from_a[i], \
             y = from_b[i])                                                 \
  }

// The same where b, or a, is one item.
#define TL_BINARY_VS(name, T, R, expr)                                      \
  void TL_K(name)(void *out, const void *a, const void *b, size_t n) {      \
    R *to = out;                                                            \
    const T *from_a = a;                                                    \
    const T y = *(const T *)b;                                              \
    TL_ITEMS(R, sizeof(T) == sizeof(R), to, n, expr, const T x = from_a[i]) \
  }
#define TL_BINARY_SV(name, T, R, expr)                                      \
  void TL_K(name)(void *out, const void *a, const void *b, size_t n) {      \
    R *to = out;                                                            \
    const T *from_b = b;                                                    \
    const T x = *(const T *)a;                                              \
    TL_ITEMS(R, sizeof(T) == sizeof(R), to, n, expr, const T y = from_b[i]) \
  }
