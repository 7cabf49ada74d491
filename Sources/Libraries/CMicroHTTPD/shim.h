// libmicrohttpd, with plain functions for its variadic ones, which Swift cannot call.
#pragma once

#include <microhttpd.h>
#include <stddef.h>
#include <sys/socket.h>

/// Starts a daemon without threads on a listening socket, which it then owns; with -1, it has only the connections of
/// `microhttpd_add`. `key` and `certificate` are PEM texts, or both null.
static inline struct MHD_Daemon *microhttpd_start(
    int listener, MHD_AcceptPolicyCallback accept, MHD_AccessHandlerCallback handle,
    MHD_RequestCompletedCallback completed, MHD_NotifyConnectionCallback connection,
    void *(*began)(void *context, const char *target, struct MHD_Connection *connection), void *context,
    size_t memory, unsigned int connections, unsigned int timeout, const char *key, const char *certificate) {
    unsigned int flags = MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME | (key ? MHD_USE_TLS : 0) |
        (listener < 0 ? MHD_USE_NO_LISTEN_SOCKET : 0);
    struct MHD_OptionItem listening[] = {
        {MHD_OPTION_LISTEN_SOCKET, listener, NULL},
        {MHD_OPTION_END, 0, NULL},
    };
    struct MHD_OptionItem encryption[] = {
        {MHD_OPTION_HTTPS_MEM_KEY, 0, (void *)key},
        {MHD_OPTION_HTTPS_MEM_CERT, 0, (void *)certificate},
        {MHD_OPTION_HTTPS_PRIORITIES, 0, "NORMAL:-VERS-TLS-ALL:+VERS-TLS1.3:+VERS-TLS1.2"},
        {MHD_OPTION_END, 0, NULL},
    };
    struct MHD_OptionItem none[] = {{MHD_OPTION_END, 0, NULL}};
    return MHD_start_daemon(
        flags, 0, accept, context, handle, context,
        MHD_OPTION_ARRAY, listener < 0 ? none : listening,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, memory,
        MHD_OPTION_CONNECTION_LIMIT, connections,
        MHD_OPTION_CONNECTION_TIMEOUT, timeout,
        // Version 1.0 then rejects ambiguous lines, which `ReceivedHeader` finds in 0.9.
        MHD_OPTION_STRICT_FOR_CLIENT, MHD_get_version()[0] == '0' ? 0 : 1,
        MHD_OPTION_URI_LOG_CALLBACK, began, context,
        MHD_OPTION_NOTIFY_COMPLETED, completed, context,
        MHD_OPTION_NOTIFY_CONNECTION, connection, context,
        MHD_OPTION_SIGPIPE_HANDLED_BY_APP, 1,
        MHD_OPTION_ARRAY, key ? encryption : none,
        MHD_OPTION_END);
}

/// Adds a connection of a Unix socket. The daemon closes it, also if there are too many.
static inline void microhttpd_add(struct MHD_Daemon *daemon, int connection) {
    struct sockaddr peer = {.sa_family = AF_UNIX};
    MHD_add_connection(daemon, connection, &peer, sizeof(peer.sa_family));
}

/// The epoll descriptor that becomes readable when `MHD_run` has work; -1 without one.
static inline int microhttpd_epoll(struct MHD_Daemon *daemon) {
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_EPOLL_FD);
    return info ? info->epoll_fd : -1;
}

/// The socket of a connection; -1 without one.
static inline int microhttpd_socket(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    return info ? info->connect_fd : -1;
}

/// The peer's address, valid as long as the connection; null without one.
static inline const struct sockaddr *microhttpd_peer(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    return info ? info->client_addr : NULL;
}

/// The size of the request line and the headers of the current request.
static inline size_t microhttpd_header_size(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
    return info ? info->header_size : 0;
}

/// Sends a response without chunks, and closes the connection behind it.
static inline void microhttpd_without_chunks(struct MHD_Response *response) {
    MHD_set_response_options(response, MHD_RF_HTTP_1_0_COMPATIBLE_STRICT, MHD_RO_END);
}
