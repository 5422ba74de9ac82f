#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""submit.py [SCHEMA]: a server that asks by write(2), hears by poll(2) and read(2)."""
import array, fcntl, hashlib, os, select, struct, sys

ATTACH, GET_CONFIG = 0xF901, 0xF910  # _IO(KAPF_IOC_TYPE, ...)
ADMIT, FINISH = 1, 2                 # enum kapf_opcode
EXECUTE = 1                          # enum kapf_verdict
WATCH_COUNT_UNKNOWN = 0xFFFFFFFF
kapf_attach = struct.Struct("4IQ64s64s")
kapf_op = struct.Struct("2B3H4I5Q")
kapf_event = struct.Struct("Q2I2HIQ")
kapf_get_config = struct.Struct("2I2Q")
kapf_config = struct.Struct("6I")

def read_config(fd):
    image = array.array("B", bytes(8 << 20))  # KAPF_MAX_IMAGE_BYTES
    get = kapf_get_config.pack(kapf_get_config.size, len(image), image.buffer_info()[0], 0)
    _, length, _, _ = kapf_get_config.unpack(fcntl.ioctl(fd, GET_CONFIG, get))
    return image[:length].tobytes()

def find_schema(image, name):
    _, _, _, levels, schemas, _ = kapf_config.unpack_from(image)
    at = kapf_config.size
    for record in range(levels + schemas):
        size, number = struct.unpack_from("2I", image, at)
        if record >= levels and image[at + 64:at + 320].rstrip(b"\0") == name:
            return number
        at += size
    sys.exit(f"there is no FlowSchema {name.decode()}")

def flow_hash(schema, distinguisher):
    return int.from_bytes(hashlib.sha256(schema + b"\0" + distinguisher).digest()[:8], "little")

def admit(slot, schema, number, user):
    label = b"".join(text + b"\0" for text in (user, user, b"list", b"/api/v1/pods"))
    return kapf_op.pack(ADMIT, 0, 1, 0, len(label), slot, number, WATCH_COUNT_UNKNOWN, 0,
                        flow_hash(schema, user), 0, 0, 0, 0) + label + bytes(-len(label) % 8)

def main(schema=b"catch-all", users=(b"alice", b"bob", b"carol")):
    fd = os.open("/dev/kapf0", os.O_RDWR)
    fcntl.ioctl(fd, ATTACH, kapf_attach.pack(152, len(users), 64, 0, 0, b"python", b""))
    number = find_schema(read_config(fd), schema)
    ops = b"".join(admit(slot, schema, number, user) for slot, user in enumerate(users))
    if os.write(fd, ops) < len(ops):
        sys.exit("not all requests were taken")
    poll, undecided = select.poll(), len(users)
    poll.register(fd, select.POLLIN)
    while undecided and poll.poll():
        for event in kapf_event.iter_unpack(os.read(fd, 16 * kapf_event.size)):
            _, slot, _, verdict, detail, _, wait = event
            undecided -= 1
            if verdict == EXECUTE:
                print(f"{users[slot].decode()}: granted after {wait} ns")
                os.write(fd, kapf_op.pack(FINISH, 0, 0, 0, 0, slot, *[0] * 8))
            else:
                print(f"{users[slot].decode()}: verdict {verdict}, retry after {detail} s")

if __name__ == "__main__":
    main(*map(str.encode, sys.argv[1:2]))
