#include "gnn/gemm.h"

#include <algorithm>
#include <cassert>

#include "gnn/gemm_kernel.h"

namespace perfc {

namespace {

struct Kernel {
  void (*run)(const GemmArguments<float>&);
  const char* name;
};

Kernel choose() {
#ifdef PERFC_GEMM_X86
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("avx512bw")) {
    return {&gemm_avx512, "avx512"};
  }
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return {&gemm_avx2, "avx2"};
#endif
  return {&gemm_baseline, "baseline"};
}

const Kernel& kernel() {
  static const Kernel chosen = choose();
  return chosen;
}

template <class T>
GemmArguments<T> arguments(const GemmShape& s, const T* a, const T* b, T* c) {
  const auto n = [](std::size_t v) { return static_cast<std::ptrdiff_t>(v); };
  return {n(s.rows), n(s.columns), n(s.inner), a, n(s.a_stride), s.a == Transpose::Yes,
          b, n(s.b_stride), s.b == Transpose::Yes, c, n(s.c_stride), s.store == Store::Add};
}

void run(const GemmArguments<float>& g) { kernel().run(g); }
void run(const GemmArguments<double>& g) { gemm_baseline(g); }

}  // namespace

void gemm(const GemmShape& s, const float* a, const float* b, float* c) { run(arguments(s, a, b, c)); }
void gemm(const GemmShape& s, const double* a, const double* b, double* c) { run(arguments(s, a, b, c)); }
const char* gemm_kernel_name() { return kernel().name; }

template <class T>
void multiply(ThreadPool& threads, const Matrix<T>& a, Transpose ta, const Matrix<T>& b, Transpose tb, Matrix<T>& c,
              Store store) {
  const std::size_t rows = ta == Transpose::Yes ? a.columns() : a.rows();
  const std::size_t inner = ta == Transpose::Yes ? a.rows() : a.columns();
  const std::size_t columns = tb == Transpose::Yes ? b.rows() : b.columns();
  assert(inner == (tb == Transpose::Yes ? b.columns() : b.rows()));
  if (store == Store::Replace) c.resize(rows, columns);
  assert(c.rows() == rows && c.columns() == columns);
  const auto part = [&](std::size_t first_row, std::size_t part_rows, std::size_t first_column, std::size_t part_columns) {
    gemm({.rows = part_rows, .columns = part_columns, .inner = inner,
          .a_stride = a.columns(), .b_stride = b.columns(), .c_stride = columns, .a = ta, .b = tb, .store = store},
         a.data() + (ta == Transpose::Yes ? first_row : first_row * a.columns()),
         b.data() + (tb == Transpose::Yes ? first_column * b.columns() : first_column), c.data() + first_row * columns + first_column);
  };
  // Each thread packs for itself what the others need as well: the smaller operand.
  if (rows < columns) {
    threads.for_ranges(columns, 64, [&](std::size_t begin, std::size_t end) { part(0, rows, begin, end - begin); });
  } else {
    threads.for_ranges(rows, 16, [&](std::size_t begin, std::size_t end) { part(begin, end - begin, 0, columns); });
  }
}

template <class T>
void multiply_by_panels(ThreadPool& threads, const Matrix<T>& a, Transpose ta, const Matrix<T>& b, Transpose tb,
                        const std::function<void(std::size_t, std::span<T>)>& use) {
  const std::size_t rows = ta == Transpose::Yes ? a.columns() : a.rows();
  const std::size_t inner = ta == Transpose::Yes ? a.rows() : a.columns();
  const std::size_t columns = tb == Transpose::Yes ? b.rows() : b.columns();
  assert(inner > 0 && inner == (tb == Transpose::Yes ? b.columns() : b.rows()));
  struct Panel {
    const std::function<void(std::size_t, std::span<T>)>& use;
    std::size_t begin, columns;
    Matrix<T>& numbers;
  };
  threads.for_ranges(rows, 16, [&](std::size_t begin, std::size_t end) {
    static thread_local Matrix<T> numbers;  // stays for the next product
    numbers.resize(std::min<std::size_t>(end - begin, kGemmPanelRows), columns);
    Panel panel{use, begin, columns, numbers};
    auto g = arguments({.rows = end - begin, .columns = columns, .inner = inner, .a_stride = a.columns(), .b_stride = b.columns(),
                        .c_stride = columns, .a = ta, .b = tb},
                       a.data() + (ta == Transpose::Yes ? begin : begin * inner), b.data(), panel.numbers.data());
    g.user = &panel;
    g.use_panel = [](void* user, std::ptrdiff_t first, std::ptrdiff_t count) {
      Panel& p = *static_cast<Panel*>(user);
      p.use(p.begin + static_cast<std::size_t>(first), std::span(p.numbers.data(), static_cast<std::size_t>(count) * p.columns));
    };
    run(g);
  });
}

template void multiply_by_panels(ThreadPool&, const Matrix<float>&, Transpose, const Matrix<float>&, Transpose,
                                 const std::function<void(std::size_t, std::span<float>)>&);
template void multiply_by_panels(ThreadPool&, const Matrix<double>&, Transpose, const Matrix<double>&, Transpose,
                                 const std::function<void(std::size_t, std::span<double>)>&);
template void multiply(ThreadPool&, const Matrix<float>&, Transpose, const Matrix<float>&, Transpose, Matrix<float>&, Store);
template void multiply(ThreadPool&, const Matrix<double>&, Transpose, const Matrix<double>&, Transpose, Matrix<double>&, Store);

}  // namespace perfc
