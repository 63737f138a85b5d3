// SPDX-License-Identifier: Apache-2.0
// Swift's Glibc module does not contain this header.

#include <sys/epoll.h>
