// SPDX-License-Identifier: Apache-2.0
// The Glibc module of Swift leaves it out.

#include <sys/epoll.h>
