#pragma once
/// `perfc serve`: predictions over HTTP. docs/serve.md.
#include "cli/answers.h"

namespace perfc::cli {

struct ServeOptions {
  std::string host = "127.0.0.1", device_file;
  std::uint64_t port = 8080;  ///< 0: one that is free
  std::uint64_t threads = 0;  ///< predictions at once; 0: one per core
  std::uint64_t queue = 16;   ///< requests that wait behind them
  std::uint64_t max_body_mib = 256, max_nodes = 200'000;
  double timeout_s = 30;  ///< of each: to send a body, to wait, to predict
};

/// Serves until SIGTERM or SIGINT; the exit code. Of `perfc` it is perfc-serve, beside it, that does so: the HTTP
/// library brings others with it, which would take longer to load than small models to predict.
int serve(const ServeOptions&);

}  // namespace perfc::cli
