// What callers have to know besides the tables: result dtypes of reductions and
// sizes of scratch memory.
#include "vm/kernels/fold.h"
#include "vm/kernels/search.h"

// Sums of unsigned items stay unsigned; bools count as signed ones, as in
// NumPy.
tl_dtype tl_fold_result(tl_fold fold, tl_dtype dtype) {
  if (dtype >= TL_STRING)
    return TL_DTYPE_COUNT;
  switch (fold) {
    case TL_FOLD_SUM:
    case TL_FOLD_PROD:
      if (tl_dtypes[dtype].kind == 'U')
        return TL_UINT64;
      return dtype == TL_BOOL || tl_dtype_is_integer(dtype) ? TL_INT64 : dtype;
    case TL_FOLD_MIN:
    case TL_FOLD_MAX:
      return tl_dtype_is_complex(dtype) ? TL_DTYPE_COUNT : dtype;
    case TL_FOLD_ANY:
    case TL_FOLD_ALL:
      return TL_BOOL;
    case TL_FOLD_COUNT:
      return TL_INT64;
    default:
      return TL_DTYPE_COUNT;
  }
}

// One row for each bit of the count of groups, and the group in work.
size_t tl_fold_outer_scratch(tl_fold fold, tl_dtype dtype, size_t nrows,
                             size_t ncols) {
  if (fold != TL_FOLD_SUM ||
      !(tl_dtype_is_real(dtype) || tl_dtype_is_complex(dtype)))
    return 0;
  size_t parts = tl_dtype_is_complex(dtype) ? 2 : 1;
  // In reals, of which a complex item has two.
  size_t strip = ncols < TL_OUTER_STRIP ? ncols * parts : TL_OUTER_STRIP;
  if (strip > TL_OUTER_STRIP)
    strip = TL_OUTER_STRIP;
  size_t rows = 1;
  for (size_t groups = nrows / TL_OUTER_GROUP + 1; groups > 0; groups >>= 1)
    rows++;
  return rows * strip * (tl_itemsize(dtype) / parts);
}

// As gemm.c cuts its blocks: rows of a and columns of b for a block of terms. A
// vector's width more is for the last panel, which is padded.
size_t tl_gemm_scratch(tl_dtype dtype, size_t m, size_t n, size_t k) {
  const size_t itemsize = tl_itemsize(dtype);
  if (tl_dtype_is_complex(dtype)) {
    const tl_dtype part = dtype == TL_COMPLEX64 ? TL_FLOAT32 : TL_FLOAT64;
    // Two products of parts, and what a product of reals needs.
    return tl_gemm_part_items(m, n) * itemsize + tl_gemm_scratch(part, m, n, k);
  }
  if (!tl_dtype_is_real(dtype)) {
    size_t columns = n < TL_GEMM_PLAIN_N ? n : TL_GEMM_PLAIN_N;
    size_t terms = k < TL_GEMM_PLAIN_K ? k : TL_GEMM_PLAIN_K;
    return columns * terms * itemsize;
  }
  size_t terms = k < TL_GEMM_K ? k : TL_GEMM_K;
  size_t columns = (n < TL_GEMM_N ? n : TL_GEMM_N) + TL_GEMM_WIDE / itemsize;
  return (tl_gemm_rows(m, k) + terms * columns) * itemsize;
}
