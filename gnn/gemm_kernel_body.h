// The product itself. No `#pragma once`: the body of one source per instruction set, which includes it once and defines
//   PERFC_GEMM_KERNEL   name of the function
//   PERFC_GEMM_SCALAR   its number type
//   PERFC_GEMM_BYTES    width of a vector register
//   PERFC_GEMM_ROWS     rows of C held in registers at a time, two vectors each
// Everything here has internal linkage and uses no inline function of other
// headers, so that the linker cannot merge one set's code with another's.
//
// The tiles are those of Goto and van de Geijn ("Anatomy of high-performance matrix
// multiplication", TOMS 2008): a block of A stays in the outer cache, a panel of B in
// the inner ones, and a kernel keeps a tile of C in registers. Panels of B are packed
// one at a time, just before all rows of the block need them, while the tiles of the
// one before it fetched its numbers: B, mostly weights, comes from far away.
#include <stdlib.h>

#include <utility>

#include "gnn/gemm_kernel.h"

namespace perfc {

namespace {

using T = PERFC_GEMM_SCALAR;
using Vector = T __attribute__((vector_size(PERFC_GEMM_BYTES)));
using Unaligned = T __attribute__((vector_size(PERFC_GEMM_BYTES), aligned(alignof(T)), may_alias));
using Size = std::ptrdiff_t;

constexpr Size kLanes = PERFC_GEMM_BYTES / sizeof(T);
constexpr Size kRows = PERFC_GEMM_ROWS, kColumns = 2 * kLanes;  ///< the tile
constexpr Size kInner = 512;  ///< of a slice: tiles long enough to forget how they begin and end
constexpr Size kBlockRows = kRows * (PERFC_GEMM_BYTES == 64 ? 64 : 68);  ///< of a block of A, which an L2 cache holds
constexpr Size kRowPointers = 8;                                         ///< that fit into registers
constexpr Size kPage = 4096, kLine = 64 / sizeof(T);
constexpr Size kSideBySide = 64;  ///< panels that are packed at a time
constexpr Size kFewRows = 64;     ///< of A; see multiply_few_rows
static_assert(kGemmPanelRows % kRows == 0 && kGemmPanelRows <= kBlockRows);

constexpr Size smaller(Size a, Size b) { return a < b ? a : b; }
constexpr Size tiles(Size n, Size tile) { return (n + tile - 1) / tile; }
/// From one packed panel to the next. A line more than its numbers: panels whose size is a multiple of a page would,
/// written side by side, push each other out of the cache.
constexpr Size panel_size(Size width, Size inner) { return width * inner + kLine; }

/// Aligned memory of a thread that stays for the next product.
class Scratch {
 public:
  ~Scratch() { free(data_); }
  T* reserve(Size count) {
    if (count > count_) {
      free(data_);
      const Size bytes = tiles(count * static_cast<Size>(sizeof(T)), 64) * 64;
      data_ = static_cast<T*>(aligned_alloc(64, static_cast<size_t>(bytes)));
      if (data_ == nullptr) abort();
      count_ = count;
    }
    return data_;
  }

 private:
  T* data_ = nullptr;
  Size count_ = 0;
};

/// Half of a0 b0 a1 b1 …: the one that begins with a[first].
template <Size first, Size... i>
Vector interleave(Vector a, Vector b, std::integer_sequence<Size, i...>) {
  return __builtin_shufflevector(a, b, (first + i / 2 + i % 2 * kLanes)...);
}

/// `rows` (at most kLanes) rows of kLanes numbers each, `row` apart, become columns, `column` apart. Of fewer rows,
/// what lies behind a column is overwritten: the next ones, which follow, and kLanes - rows numbers behind the last.
template <Size rows>
void transpose(const T* from, Size row, T* to, Size column) {
  constexpr std::make_integer_sequence<Size, kLanes> kAll{};
  Vector v[kLanes], w[kLanes];
#pragma GCC unroll 16
  for (Size i = 0; i < kLanes; ++i) v[i] = *reinterpret_cast<const Unaligned*>(from + smaller(i, rows - 1) * row);
    // log2(kLanes) perfect shuffles of the rows.
#pragma GCC unroll 16
  for (Size done = 1; done < kLanes; done *= 2) {
#pragma GCC unroll 16
    for (Size i = 0; i < kLanes / 2; ++i) {
      w[2 * i] = interleave<0>(v[i], v[i + kLanes / 2], kAll);
      w[2 * i + 1] = interleave<kLanes / 2>(v[i], v[i + kLanes / 2], kAll);
    }
#pragma GCC unroll 16
    for (Size i = 0; i < kLanes; ++i) v[i] = w[i];
  }
#pragma GCC unroll 16
  for (Size i = 0; i < kLanes; ++i) *reinterpret_cast<Unaligned*>(to + i * column) = v[i];
}

/// Panels of `width` rows of a rows × inner matrix, inner index slowest, the last
/// panel filled up with zeros. `row` and `step`: distances between rows and inner indices. Up to kLanes numbers behind
/// the panels may be overwritten.
template <Size width>
void pack(const T* from, Size row, Size step, Size rows, Size inner, T* to) {
  constexpr Size kRest = width % kLanes;
  const Size whole = rows / width * width;
  Size first = 0;
  if (row == 1) {
    // Several panels at a time: what lies side by side is read at once, and not once per panel.
    for (; first < whole; first += kSideBySide * width) {
      const Size panels = smaller(kSideBySide, (whole - first) / width);
      for (Size k = 0; k < inner; ++k) {
        const T* numbers = from + first + k * step;
        T* out = to + first / width * panel_size(width, inner) + k * width;
        for (Size p = 0; p < panels; ++p, numbers += width, out += panel_size(width, inner)) {
          for (Size i = 0; i < width; ++i) out[i] = numbers[i];
        }
      }
    }
    first = whole;
  } else if (step == 1) {
    for (; first < whole; first += width) {
      const T* panel = from + first * row;
      T* out = to + first / width * panel_size(width, inner);
      Size k = 0;
      for (; k + 2 * kLanes <= inner; k += 2 * kLanes) {
        for (Size i = 0; i < width; ++i) {  // the next two, to where more than a few lines a page apart have room
          __builtin_prefetch(panel + i * row + k + 2 * kLanes, 0, 2);
          __builtin_prefetch(panel + i * row + k + 3 * kLanes, 0, 2);
        }
        // Two at a time, while their lines are in the cache: rows that are a page apart push each other out of it. The
        // rest first: what it overwrites is written after it.
        if constexpr (kRest > 0) {
          const T* rest = panel + (width - kRest) * row + k;
          transpose<kRest>(rest, row, out + k * width + width - kRest, width);
          transpose<kRest>(rest + kLanes, row, out + (k + kLanes) * width + width - kRest, width);
        }
        for (Size i = 0; i + kLanes <= width; i += kLanes) {
          transpose<kLanes>(panel + i * row + k, row, out + k * width + i, width);
          transpose<kLanes>(panel + i * row + k + kLanes, row, out + (k + kLanes) * width + i, width);
        }
      }
      for (; k < inner; ++k) {
        for (Size i = 0; i < width; ++i) out[k * width + i] = panel[i * row + k];
      }
    }
  }
  for (; first < rows; first += width) {
    T* out = to + first / width * panel_size(width, inner);
    for (Size k = 0; k < inner; ++k) {
      for (Size i = 0; i < width; ++i)
        out[k * width + i] = first + i < rows ? from[(first + i) * row + k * step] : T(0);
    }
  }
}

/// Numbers that are needed next, fetched a few lines at a time while others are worked on: `rows` of `length`, `stride`
/// apart.
class Ahead {
 public:
  Ahead() = default;
  Ahead(const T* from, Size stride, Size rows, Size length)
      : row_(from), stride_(stride), rows_(rows), length_(length) {}
  Size lines() const { return rows_ * tiles(length_, kLine); }
  void fetch(Size lines) {
    for (; lines > 0 && rows_ > 0; --lines) {
      __builtin_prefetch(row_ + at_, 0, 2);
      if ((at_ += kLine) < length_) continue;
      at_ = 0;
      row_ += stride_;
      --rows_;
    }
  }

 private:
  const T* row_ = nullptr;
  Size stride_ = 0, rows_ = 0, length_ = 0, at_ = 0;
};

/// Where a tile finds its rows of A: packed, or as they lie.
enum class Rows { Packed, Direct };

/// What a tile of C is made from.
struct Tile {
  Size inner;
  const T* a;
  Size a_row;  ///< distance between rows where they are not packed
  const T* b;
  T* c;
  Size c_stride;
  Size rows, columns;
  bool add;
};

/// A tile of C from kRows rows of A and a panel of B.
template <Rows where>
void multiply_tile(const Tile& t) {
  const Size inner = t.inner, rows = t.rows, c_stride = t.c_stride;
  const T *const a = t.a, *b = t.b;
  T* const c = t.c;
  const bool add = t.add;
  const T* row[kRows];
#pragma GCC unroll 16
  for (Size i = 0; i < kRows; ++i) row[i] = a + smaller(i, rows - 1) * t.a_row;  // what is too much is not stored
#pragma GCC unroll 16
  for (Size i = 0; i < kRows; ++i) __builtin_prefetch(c + smaller(i, rows - 1) * c_stride, 1);  // needed after the loop
  Vector sum[kRows][2] = {};
  for (Size k = 0; k < inner; ++k, b += kColumns) {
    const Vector b0 = *reinterpret_cast<const Unaligned*>(b), b1 = *reinterpret_cast<const Unaligned*>(b + kLanes);
#pragma GCC unroll 16
    for (Size i = 0; i < kRows; ++i) {
      const T element = where == Rows::Packed ? a[k * kRows + i] : row[i][k];
      sum[i][0] += element * b0;
      sum[i][1] += element * b1;
    }
  }
  if (rows == kRows && t.columns == kColumns) {
#pragma GCC unroll 16
    for (Size i = 0; i < kRows; ++i) {
      auto* to = reinterpret_cast<Unaligned*>(c + i * c_stride);
      auto* next = reinterpret_cast<Unaligned*>(c + i * c_stride + kLanes);
      *to = add ? *to + sum[i][0] : sum[i][0];
      *next = add ? *next + sum[i][1] : sum[i][1];
    }
    return;
  }
  T spilled[kRows][kColumns];
#pragma GCC unroll 16
  for (Size i = 0; i < kRows; ++i) {
    *reinterpret_cast<Unaligned*>(&spilled[i][0]) = sum[i][0];
    *reinterpret_cast<Unaligned*>(&spilled[i][kLanes]) = sum[i][1];
  }
  for (Size i = 0; i < rows; ++i) {
    for (Size j = 0; j < t.columns; ++j) c[i * c_stride + j] = (add ? c[i * c_stride + j] : T(0)) + spilled[i][j];
  }
}

/// to (columns × rows) = fromᵀ.
void transpose_all(const T* from, Size from_stride, Size rows, Size columns, T* to, Size to_stride) {
  Size i = 0;
  for (; i + kLanes <= rows; i += kLanes) {
    Size j = 0;
    for (; j + kLanes <= columns; j += kLanes)
      transpose<kLanes>(from + i * from_stride + j, from_stride, to + j * to_stride + i, to_stride);
    for (; j < columns; ++j) {
      for (Size r = i; r < i + kLanes; ++r) to[j * to_stride + r] = from[r * from_stride + j];
    }
  }
  for (; i < rows; ++i) {
    for (Size j = 0; j < columns; ++j) to[j * to_stride + i] = from[i * from_stride + j];
  }
}

/// C = or += A Bᵀ with few rows of A, as Cᵀ = B Aᵀ: B, the larger of the two, is read as it lies and A is packed. The
/// same sums in the same order.
void multiply_few_rows(const GemmArguments<T>& g, Scratch& a_scratch, Scratch& c_scratch) {
  T* const packed = a_scratch.reserve(tiles(g.rows, kColumns) * panel_size(kColumns, kInner));
  T* const c = c_scratch.reserve(g.rows * g.columns);
  if (g.add) transpose_all(g.c, g.c_stride, g.rows, g.columns, c, g.rows);
  for (Size k0 = 0; k0 < g.inner; k0 += kInner) {
    const Size inner = smaller(kInner, g.inner - k0);
    pack<kColumns>(g.a + k0, g.a_stride, 1, g.rows, inner, packed);
    for (Size i = 0; i < g.columns; i += kRows) {
      const T* const rows_of_b = g.b + i * g.b_stride + k0;
      const Size high = smaller(kRows, g.columns - i);
      for (Size next = i + kRows; next < smaller(i + 2 * kRows, g.columns); ++next) {
        for (Size k = 0; k < inner; k += kLine) __builtin_prefetch(g.b + next * g.b_stride + k0 + k);
      }
      for (Size j = 0; j < g.rows; j += kColumns) {
        multiply_tile<Rows::Direct>({.inner = inner,
                                     .a = rows_of_b,
                                     .a_row = g.b_stride,
                                     .b = packed + j / kColumns * panel_size(kColumns, inner),
                                     .c = c + i * g.rows + j,
                                     .c_stride = g.rows,
                                     .rows = high,
                                     .columns = smaller(kColumns, g.rows - j),
                                     .add = g.add || k0 > 0});
      }
    }
  }
  transpose_all(c, g.rows, g.columns, g.rows, g.c, g.c_stride);
}

}  // namespace

void PERFC_GEMM_KERNEL(const GemmArguments<PERFC_GEMM_SCALAR>& g) {
  static thread_local Scratch a_scratch, b_scratch;
  if (g.inner == 0 && g.use_panel == nullptr) {
    for (Size i = 0; i < g.rows && !g.add; ++i) {
      for (Size j = 0; j < g.columns; ++j) g.c[i * g.c_stride + j] = 0;
    }
    return;
  }
  if (kRows <= kRowPointers && !g.a_transposed && g.b_transposed && g.use_panel == nullptr && g.rows <= kFewRows &&
      g.columns > g.rows) {
    multiply_few_rows(g, a_scratch, b_scratch);
    return;
  }
  const Size a_row = g.a_transposed ? 1 : g.a_stride, a_step = g.a_transposed ? g.a_stride : 1;
  const Size b_column = g.b_transposed ? g.b_stride : 1, b_step = g.b_transposed ? 1 : g.b_stride;
  // Rows that are a multiple of a page apart would push each other out of the cache.
  const bool direct =
      !g.a_transposed && kRows <= kRowPointers && g.a_stride * static_cast<Size>(sizeof(T)) % kPage != 0;
  T* const packed_a = a_scratch.reserve(tiles(smaller(kBlockRows, g.rows), kRows) * panel_size(kRows, kInner) + kLanes);
  const auto rows_of_a = [&](Size i0, Size rows, Size k0, Size inner) -> const T* {
    const T* const from = g.a + i0 * a_row + k0 * a_step;
    if (direct) return from;
    pack<kRows>(from, a_row, a_step, rows, inner, packed_a);
    return packed_a;
  };
  // `rows` rows of as many columns of C as a panel of B has.
  const auto column_of_tiles =
      [&](const T* a, Size rows, const T* panel, Size k0, Size inner, T* c, Size columns, Ahead next) {
    const Size lines = tiles(next.lines(), tiles(rows, kRows));
    for (Size i = 0; i < rows; i += kRows) {
      next.fetch(lines);
      const Tile tile{.inner = inner,
                      .a = a + (direct ? i * a_row : i / kRows * panel_size(kRows, inner)),
                      .a_row = direct ? a_row : 0,
                      .b = panel,
                      .c = c + i * g.c_stride,
                      .c_stride = g.c_stride,
                      .rows = smaller(kRows, rows - i),
                      .columns = columns,
                      .add = g.add || k0 > 0};
      direct ? multiply_tile<Rows::Direct>(tile) : multiply_tile<Rows::Packed>(tile);
    }
  };
  const auto columns_from = [&](Size j) { return smaller(kColumns, g.columns - j); };
  const auto inner_from = [&](Size k0) { return smaller(kInner, g.inner - k0); };
  const auto at_b = [&](Size k0, Size j) { return g.b + j * b_column + k0 * b_step; };
  if (g.use_panel != nullptr) {
    const Size slice = tiles(g.columns, kColumns) * panel_size(kColumns, kInner);
    T* const packed_b = b_scratch.reserve(slice * tiles(g.inner, kInner));  // all of it: every panel of C needs it
    for (Size k0 = 0; k0 < g.inner; k0 += kInner) {
      pack<kColumns>(at_b(k0, 0), b_column, b_step, g.columns, inner_from(k0), packed_b + k0 / kInner * slice);
    }
    for (Size i0 = 0; i0 < g.rows; i0 += kGemmPanelRows) {
      const Size rows = smaller(kGemmPanelRows, g.rows - i0);
      for (Size k0 = 0; k0 < g.inner; k0 += kInner) {
        const Size inner = inner_from(k0);
        const T* const a = rows_of_a(i0, rows, k0, inner);
        for (Size j = 0; j < g.columns; j += kColumns) {
          column_of_tiles(a, rows, packed_b + k0 / kInner * slice + j / kColumns * panel_size(kColumns, inner), k0,
                          inner, g.c + j, columns_from(j), {});
        }
      }
      g.use_panel(g.user, i0, rows);
    }
    return;
  }
  T* const panel = b_scratch.reserve(panel_size(kColumns, kInner));
  const auto ahead = [&](Size k0, Size j) {
    if (j >= g.columns) j = 0, k0 += kInner;
    if (k0 >= g.inner) return Ahead();
    return b_step == 1 ? Ahead(at_b(k0, j), b_column, columns_from(j), inner_from(k0))
                       : Ahead(at_b(k0, j), b_step, inner_from(k0), columns_from(j));
  };
  for (Size i0 = 0; i0 < g.rows; i0 += kBlockRows) {
    const Size rows = smaller(kBlockRows, g.rows - i0);
    for (Size k0 = 0; k0 < g.inner; k0 += kInner) {
      const Size inner = inner_from(k0);
      const T* const a = rows_of_a(i0, rows, k0, inner);
      for (Size j = 0; j < g.columns; j += kColumns) {
        pack<kColumns>(at_b(k0, j), b_column, b_step, columns_from(j), inner, panel);
        column_of_tiles(a, rows, panel, k0, inner, g.c + i0 * g.c_stride + j, columns_from(j), ahead(k0, j + kColumns));
      }
    }
  }
}

}  // namespace perfc
