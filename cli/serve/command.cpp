#include "cli/serve/serve.h"

namespace perfc::cli {

Command serve_command() {
  auto o = std::make_shared<ServeOptions>();
  Command c{"serve", "Predict over HTTP: POST a model, get its report (docs/serve.md)", [o] { return serve(*o); }};
  c.option("--host", o->host, "Address to listen on; others than loopback are open to their network [127.0.0.1]");
  c.option("--port", o->port, "Port; 0: one that is free, which is printed [8080]").must_be(WholeBetween{0, 65535});
  c.option("--threads", o->threads, "Models that are predicted at once [one per core]").must_be(WholeBetween{1, 256});
  c.option("--queue", o->queue, "Requests that wait behind them; more are answered 503 [16]")
      .must_be(WholeBetween{0, 1024});
  c.option("--max-body", o->max_body_mib, "Largest model, in MiB [256]").must_be(WholeBetween{1, 2047});
  c.option("--max-nodes", o->max_nodes, "Nodes of the largest graph [200000]").must_be(WholeBetween{1, 4'000'000});
  c.option("--timeout", o->timeout_s, "Seconds to send a model, to wait for a thread, and to predict, each [30]")
      .must_be(RealBetween{0.1, 3600});
  c.option("--device-file", o->device_file, "JSON file with devices of your own, in the format of data/devices.json");
  return c;
}

}  // namespace perfc::cli
