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
  return {n(s.rows), n(s.columns),  n(s.inner),
          a,         n(s.a_stride), s.a == Transpose::Yes,
          b,         n(s.b_stride), s.b == Transpose::Yes,
          c,         n(s.c_stride), s.store == Store::Add};
}

void run(const GemmArguments<float>& g) { kernel().run(g); }
void run(const GemmArguments<double>& g) { gemm_baseline(g); }

}  // namespace

void gemm(const GemmShape& s, const float* a, const float* b, float* c) { run(arguments(s, a, b, c)); }
void gemm(const GemmShape& s, const double* a, const double* b, double* c) { run(arguments(s, a, b, c)); }
const char* gemm_kernel_name() { return kernel().name; }

template <class T>
void gemm(ThreadPool& threads, const GemmShape& s, const T* a, const T* b, T* c) {
  // Each thread packs for itself what the others need as well: the smaller operand.
  if (s.rows < s.columns) {
    threads.for_ranges(s.columns, 64, [&](std::size_t begin, std::size_t end) {
      GemmShape part = s;
      part.columns = end - begin;
      gemm(part, a, b + (s.b == Transpose::Yes ? begin * s.b_stride : begin), c + begin);
    });
  } else {
    threads.for_ranges(s.rows, 16, [&](std::size_t begin, std::size_t end) {
      GemmShape part = s;
      part.rows = end - begin;
      gemm(part, a + (s.a == Transpose::Yes ? begin : begin * s.a_stride), b, c + begin * s.c_stride);
    });
  }
}

template <class T>
void multiply(ThreadPool& threads, const Matrix<T>& a, Transpose ta, const Matrix<T>& b, Transpose tb, Matrix<T>& c,
              Store store) {
  const std::size_t rows = ta == Transpose::Yes ? a.columns() : a.rows();
  const std::size_t inner = ta == Transpose::Yes ? a.rows() : a.columns();
  const std::size_t columns = tb == Transpose::Yes ? b.rows() : b.columns();
  assert(inner == (tb == Transpose::Yes ? b.columns() : b.rows()));
  if (store == Store::Replace) c.resize(rows, columns);
  assert(c.rows() == rows && c.columns() == columns);
  gemm<T>(threads,
          {.rows = rows,
           .columns = columns,
           .inner = inner,
           .a_stride = a.columns(),
           .b_stride = b.columns(),
           .c_stride = columns,
           .a = ta,
           .b = tb,
           .store = store},
          a.data(), b.data(), c.data());
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
    auto g = arguments({.rows = end - begin,
                        .columns = columns,
                        .inner = inner,
                        .a_stride = a.columns(),
                        .b_stride = b.columns(),
                        .c_stride = columns,
                        .a = ta,
                        .b = tb},
                       a.data() + (ta == Transpose::Yes ? begin : begin * inner), b.data(), panel.numbers.data());
    g.user = &panel;
    g.use_panel = [](void* user, std::ptrdiff_t first, std::ptrdiff_t count) {
      Panel& p = *static_cast<Panel*>(user);
      p.use(p.begin + static_cast<std::size_t>(first),
            std::span(p.numbers.data(), static_cast<std::size_t>(count) * p.columns));
    };
    run(g);
  });
}

template void multiply_by_panels(ThreadPool&, const Matrix<float>&, Transpose, const Matrix<float>&, Transpose,
                                 const std::function<void(std::size_t, std::span<float>)>&);
template void multiply_by_panels(ThreadPool&, const Matrix<double>&, Transpose, const Matrix<double>&, Transpose,
                                 const std::function<void(std::size_t, std::span<double>)>&);
template void gemm(ThreadPool&, const GemmShape&, const float*, const float*, float*);
template void gemm(ThreadPool&, const GemmShape&, const double*, const double*, double*);
template void multiply(ThreadPool&, const Matrix<float>&, Transpose, const Matrix<float>&, Transpose, Matrix<float>&,
                       Store);
template void multiply(ThreadPool&, const Matrix<double>&, Transpose, const Matrix<double>&, Transpose, Matrix<double>&,
                       Store);

}  // namespace perfc
