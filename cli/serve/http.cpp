/// The server of perfc-serve: accepts connections, has cpp-httplib read requests and write answers.
#include <fmt/format.h>
#include <netdb.h>
#include <poll.h>
#include <sched.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <charconv>
#include <csignal>
#include <cstring>
#include <thread>

#include "cli/serve/connection.h"
#include "cli/serve/no_files.h"
#include "cli/serve/service.h"

namespace perfc::cli {
namespace {

using namespace std::chrono_literals;

constexpr int kBacklog = 128;  ///< connections that the kernel holds before they are accepted
constexpr std::size_t kSpareConnections =
    16;                                      ///< beyond those with places: for metrics, and to be told that it is full
constexpr auto kIdle = 5s;                   ///< that a connection is kept without a request …
constexpr std::size_t kMostRequests = 1000;  ///< … and for how many
constexpr std::string_view kPredict = "/v1/predict", kOther = "other";
constexpr std::string_view kPaths[] = {kPredict, "/v1/devices", "/healthz", "/metrics", "/openapi.json"};

/// The connection that this thread works for.
thread_local Connection* connection = nullptr;

std::string_view known_path(const std::string& path) {
  const auto known = std::ranges::find(kPaths, path);
  return known == std::end(kPaths) ? kOther : *known;
}

bool has_body(const httplib::Request& request) {
  return request.has_header("Transfer-Encoding") ||
         (request.has_header("Content-Length") && request.get_header_value("Content-Length") != "0");
}

/// The length that is announced; empty: none, or none that is a number.
std::optional<std::uint64_t> announced(const httplib::Request& request) {
  const std::string text = request.get_header_value("Content-Length");
  std::uint64_t length = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), length);
  return error == std::errc{} && end == text.data() + text.size() && !text.empty() ? std::optional(length)
                                                                                   : std::nullopt;
}

/// With a request that httplib refuses.
std::string_view what_is_wrong(int status) {
  switch (status) {
    case 413:
      return "the body is too large";
    case 414:
      return "the request's target is too long";
    case 415:
      return "the body's Content-Encoding is not known";
    case 416:
      return "the ranges that it asks for are none";
    case 431:
      return "the request's head is too large";
    default:
      return "it is no HTTP request that can be read";
  }
}

void give(ServerAnswer answer, httplib::Response& response) {
  response.status = answer.status;
  for (const auto& [name, value] : answer.headers) response.set_header(name, value);
  if (connection->closing()) response.set_header("Connection", "close");
  response.set_header("Cache-Control", "no-store");
  response.set_header("X-Content-Type-Options", "nosniff");
  // From a provider, for then httplib does not compress, which takes longer than to predict.
  const auto body = std::make_shared<const std::string>(std::move(answer.body));
  response.set_content_provider(body->size(), answer.type,
                                [body](std::size_t offset, std::size_t length, httplib::DataSink& sink) {
    return sink.write(body->data() + offset, length);
  });
}

sigset_t ending_signals() {
  sigset_t out;
  ::sigemptyset(&out);
  ::sigaddset(&out, SIGTERM);
  ::sigaddset(&out, SIGINT);
  return out;
}

class Http : private httplib::Server {
 public:
  Http(Service& service, std::size_t connections);
  /// Accepts from `listening` until a signal can be read from `signals`; then what runs is finished.
  void run(Descriptor listening, const Descriptor& signals);

 private:
  struct Idle {
    std::condition_variable wake;
    bool called = false;
  };
  void work();
  void converse(Descriptor socket);
  void refuse(Descriptor socket);
  bool crowded();  ///< more connections wait than threads do
  HandlerResponse route(const httplib::Request&, httplib::Response&);
  ServerAnswer predict(const httplib::Request&, const httplib::ContentReader&);
  /// The body, or why there is none.
  std::variant<std::string, ServerAnswer> receive(const httplib::Request&, const httplib::ContentReader&);

  Service& service_;
  std::size_t most_;
  std::mutex mutex_;
  std::deque<Descriptor> waiting_;  ///< connections that no thread works for yet
  std::vector<Idle*> idle_;         ///< threads without a connection; the last is called first, for its memory is warm
  std::size_t called_ = 0;          ///< of them, those that were called and have not looked yet
  std::atomic<bool> stopping_ = false;
};

Http::Http(Service& service, std::size_t connections) : service_(service), most_(connections) {
  set_keep_alive_max_count(kMostRequests);  // of the header; `converse` counts
  set_payload_max_length(service.options().max_body_mib << 20);
  set_pre_routing_handler([this](const auto& request, auto& response) { return route(request, response); });
  Post(std::string(kPredict),
       [this](const httplib::Request& request, httplib::Response& response, const httplib::ContentReader& reader) {
    give(predict(request, reader), response);
  });
  set_error_handler(HandlerWithResponse([this](const httplib::Request&, httplib::Response& response) {
    if (response.content_length_ > 0) return HandlerResponse::Unhandled;
    connection->close_after();
    const int status = connection->head_too_large() ? 431 : response.status;
    give(service_.error(status, std::string(what_is_wrong(status))), response);
    return HandlerResponse::Handled;
  }));
  set_logger([this](const httplib::Request& request, const httplib::Response& response) {
    service_.metrics().answered(known_path(request.path), response.status, connection->received(),
                                response.content_length_);
  });
}

Http::HandlerResponse Http::route(const httplib::Request& request, httplib::Response& response) {
  const bool predicts = request.path == kPredict, gets = request.method == "GET" || request.method == "HEAD";
  if (predicts && request.method == "POST") return HandlerResponse::Unhandled;
  if (has_body(request)) connection->close_after();
  auto answer = gets ? service_.get(request.path) : std::nullopt;
  if (!answer && known_path(request.path) == kOther) {
    answer = service_.error(404, fmt::format("there is no such path; there are {}", fmt::join(kPaths, ", ")));
  } else if (!answer) {
    const std::string_view allowed = predicts ? "POST" : "GET, HEAD";
    answer = service_.error(405, fmt::format("{} takes {}", known_path(request.path), allowed));
    answer->headers = {{"Allow", std::string(allowed)}};
  }
  give(std::move(*answer), response);
  return HandlerResponse::Handled;
}

std::variant<std::string, ServerAnswer> Http::receive(const httplib::Request& request,
                                                      const httplib::ContentReader& reader) {
  const std::size_t most = service_.options().max_body_mib << 20;
  const auto length = announced(request);
  if (length && *length > most) return service_.rejected(Rejected::Body);
  if (request.is_multipart_form_data())
    return service_.error(415, "the body is the model's file as it is, no form: curl --data-binary @FILE");
  const auto time = std::chrono::duration<double>(service_.options().timeout_s);
  connection->begin_body(Connection::Clock::now() + std::chrono::duration_cast<Connection::Clock::duration>(time));
  std::string body;
  if (length) body.reserve(*length);
  bool too_large = false;
  const bool whole = reader([&](const char* data, std::size_t size) {
    too_large = size > most - body.size();
    if (!too_large) body.append(data, size);
    return !too_large;
  });
  if (whole && !too_large) return body;
  if (too_large) return service_.rejected(Rejected::Body);
  if (connection->late()) return service_.rejected(Rejected::Slow);
  if (stopping_) return service_.rejected(Rejected::Stopping);
  return service_.error(request.has_header("Content-Encoding") ? 415 : 400,
                        "the body cannot be read as its headers describe it");
}

ServerAnswer Http::predict(const httplib::Request& request, const httplib::ContentReader& reader) {
  connection->close_after();  // unless the whole request was read
  const std::size_t question = request.target.find('?');
  const std::string query = question == std::string::npos ? "" : request.target.substr(question + 1);
  auto understood = service_.understand(query, request.get_header_value("Accept"));
  if (auto* answer = std::get_if<ServerAnswer>(&understood)) return std::move(*answer);
  auto place = service_.places().enter();
  if (!place) return service_.rejected(service_.places().closed() ? Rejected::Stopping : Rejected::Full);
  auto received = receive(request, reader);
  if (auto* answer = std::get_if<ServerAnswer>(&received)) return std::move(*answer);
  connection->keep();
  const auto start = Connection::Clock::now();
  const auto time = std::chrono::duration<double>(service_.options().timeout_s);
  ServerAnswer answer;
  const bool began = place->run(start + std::chrono::duration_cast<Connection::Clock::duration>(time),
                                [&](std::size_t slot) {
    answer = service_.predict(std::get<PredictionJob>(understood), std::move(std::get<std::string>(received)), slot);
  });
  if (!began) return service_.rejected(service_.places().closed() ? Rejected::Stopping : Rejected::Waited);
  service_.metrics().predicted(std::chrono::duration<double>(Connection::Clock::now() - start).count());
  return answer;
}

bool Http::crowded() {
  const std::lock_guard lock(mutex_);
  return waiting_.size() > called_;
}

void Http::converse(Descriptor socket) {
  Connection client(std::move(socket), stopping_);
  connection = &client;
  const auto unwanted = [&] { return stopping_ || crowded(); };
  for (std::size_t count = 1; count <= kMostRequests; ++count) {
    if (!client.await_request(count == 1 ? 2 * kIdle : kIdle, unwanted)) break;
    client.begin_head();
    bool closed = false;
    if (!process_request(client, count == kMostRequests || stopping_, closed, nullptr) || closed || client.closing())
      break;
  }
  client.finish();
  connection = nullptr;
}

void Http::work() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    if (waiting_.empty()) {
      Idle self;
      idle_.push_back(&self);
      self.wake.wait(lock, [&] { return stopping_ || self.called; });
      if (self.called) --called_;
      continue;
    }
    Descriptor socket = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    converse(std::move(socket));
    lock.lock();
  }
}

/// Says so without waiting for the client.
void Http::refuse(Descriptor socket) {
  const ServerAnswer answer = service_.rejected(Rejected::Full);
  const std::string text = fmt::format(
      "HTTP/1.1 503 Service Unavailable\r\nContent-Type: {}\r\nContent-Length: {}\r\nRetry-After: 1\r\n"
      "Connection: close\r\n\r\n{}",
      answer.type, answer.body.size(), answer.body);
  const ssize_t sent = ::send(socket.get(), text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  ::shutdown(socket.get(), SHUT_WR);
  service_.metrics().answered(kOther, 503, 0, sent > 0 ? static_cast<std::uint64_t>(sent) : 0);
}

void Http::run(Descriptor listening, const Descriptor& signals) {
  svr_sock_ = listening.get();  // httplib writes answers while there is one, also those of what is finished at the end
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < most_; ++t) threads.emplace_back([this] { work(); });
  for (;;) {
    pollfd events[] = {{listening.get(), POLLIN, 0}, {signals.get(), POLLIN, 0}};
    if (::poll(events, std::size(events), -1) < 0) continue;
    if (events[1].revents) break;
    Descriptor socket(::accept4(listening.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!socket) {
      if (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS) std::this_thread::sleep_for(10ms);
      continue;
    }
    std::unique_lock lock(mutex_);
    if (waiting_.size() >= most_) {
      lock.unlock();
      refuse(std::move(socket));
      continue;
    }
    waiting_.push_back(std::move(socket));
    if (idle_.empty()) continue;
    idle_.back()->called = true;
    idle_.back()->wake.notify_one();
    idle_.pop_back();
    ++called_;
  }
  signalfd_siginfo which;
  [[maybe_unused]] const ssize_t taken = ::read(signals.get(), &which, sizeof which);
  const sigset_t ends = ending_signals();
  ::pthread_sigmask(SIG_UNBLOCK, &ends, nullptr);  // a second one ends the program at once
  listening.close();
  service_.places().close();
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    waiting_.clear();
    for (Idle* thread : idle_) thread->wake.notify_one();
  }
  for (std::thread& t : threads) t.join();
}

/// A socket that listens; of none, why was printed. `url`: where.
Descriptor listen_on(const ServeOptions& o, std::string& url) {
  addrinfo hints{}, *found = nullptr;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  const int wrong = ::getaddrinfo(o.host.c_str(), std::to_string(o.port).c_str(), &hints, &found);
  if (wrong) return fail(kBadInput, fmt::format("--host: '{}': {}", o.host, ::gai_strerror(wrong))), Descriptor();
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owned(found, ::freeaddrinfo);
  Descriptor out(::socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const int yes = 1;
  ::setsockopt(out.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  if (!out || ::bind(out.get(), found->ai_addr, found->ai_addrlen) || ::listen(out.get(), kBacklog)) {
    fail(kBadInput, fmt::format("cannot listen on {} port {}: {}", o.host, o.port, std::strerror(errno)));
    return Descriptor();
  }
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  ::getsockname(out.get(), reinterpret_cast<sockaddr*>(&address), &size);
  char host[NI_MAXHOST] = "", port[NI_MAXSERV] = "";
  ::getnameinfo(reinterpret_cast<const sockaddr*>(&address), size, host, sizeof host, port, sizeof port,
                NI_NUMERICHOST | NI_NUMERICSERV);
  url = found->ai_family == AF_INET6 ? fmt::format("http://[{}]:{}", host, port)
                                     : fmt::format("http://{}:{}", host, port);
  return out;
}

std::size_t cores() {
  cpu_set_t set;
  const bool known = ::sched_getaffinity(0, sizeof set, &set) == 0;
  return std::max(1u, known ? static_cast<unsigned>(CPU_COUNT(&set)) : std::thread::hardware_concurrency());
}

}  // namespace

int serve(const ServeOptions& o) {
  Diagnostics diags;
  auto devices = device_table({.device_file = o.device_file}, diags);
  print(diags);
  if (!devices) return kBadInput;
  const sigset_t ends = ending_signals();
  ::pthread_sigmask(SIG_BLOCK, &ends, nullptr);  // of every thread, for none begins above
  const Descriptor signals(::signalfd(-1, &ends, SFD_CLOEXEC));
  std::string url;
  Descriptor listening = listen_on(o, url);
  if (!listening) return kBadInput;
  if (!open_no_more_files())
    say("perfc serve: note: this kernel has no Landlock: that no request opens a file rests on perfc alone\n");
  const std::size_t threads = o.threads ? o.threads : cores();
  auto service = Service::open(o, threads, std::move(*devices), diags);
  print(diags);
  if (!service) return kBadInput;
  auto out = Output::open("");
  out->write(fmt::format("perfc serve: listening on {}\n", url));
  if (!out->commit()) return kBadInput;
  Http(**service, threads + o.queue + kSpareConnections).run(std::move(listening), signals);
  return kFine;
}

}  // namespace perfc::cli
