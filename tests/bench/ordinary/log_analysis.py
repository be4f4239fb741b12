import re


def make(n):
    paths = ("/index.html", "/img/logo.png", "/api/v1/users/{id}", "/login")
    out = []
    for i in range(n):
        at = (f"{i % 28 + 1:02d}/Mar/2024:{i % 24:02d}:{i * 7 % 60:02d}"
              ":00 +0000")
        verb = "POST" if i % 5 == 0 else "GET"
        status = 404 if i % 11 == 0 else 200
        asked = f"{verb} {paths[i * 3 % 4]}?q={i} HTTP/1.1"
        out.append(f"10.0.{i % 7}.{i * 13 % 251} - - [{at}] \"{asked}\" "
                   f"{status} {i * 37 % 5000}")
    return out


PATTERN = re.compile(r"^(\S+) \S+ \S+ \[\d+/\w+/\d+:(\d+):\d+:\d+ [^\]]+\] "
                     r'"\w+ ([^ ?]+)[^"]*" (\d+) (\d+)$')


def analyse(lines):
    hosts, paths, hours, codes = {}, {}, {}, {}
    sent = 0
    for line in lines:
        m = PATTERN.match(line)
        if m is None:
            continue
        host, hour, path, status, size = m.groups()
        hosts[host] = hosts.get(host, 0) + 1
        codes[status] = codes.get(status, 0) + 1
        hours[int(hour)] = hours.get(int(hour), 0) + 1
        paths[path] = paths.get(path, 0) + int(size)
        sent += int(size)
    top = sorted(hosts, key=lambda h: (-hosts[h], h))[0]
    return (f"{top} {hosts[top]} {codes['404']} {hours[13]} {sent} "
            f"{paths['/login']}")


print(analyse(make(25000)))
