#include <cstdio>

#include "learning/predictors.h"

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  perfc::Request request;
  request.model = argv[1];
  request.batch = 32;
  request.devices = {"a100-40gb"};
  perfc::Diagnostics diags(request.model);
  const auto reports = perfc::predict(request, diags);
  if (!reports) {
    std::fputs(diags.str().c_str(), stderr);
    return 1;
  }
  const perfc::Report& r = reports->front();
  std::printf("%.4f ms %.0f macs\n", r.prediction.latency_ms, r.features.macs);
}
