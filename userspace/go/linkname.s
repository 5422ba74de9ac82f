// SPDX-License-Identifier: GPL-2.0

// Nothing: functions without a body, which go:linkname finds in the reference,
// are let pass where there is assembly.
