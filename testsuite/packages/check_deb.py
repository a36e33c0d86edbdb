#!/usr/bin/env python3
"""The Debian package.

usage: check_deb.py BUILD

cpack makes it from the build. lintian has no error and no warning. It has the files of an ordinary
installation except LEFT_OUT, and those of MORE. Their content is the same, except that programs
are stripped and manual pages compressed, by gzip -9n. It depends on the C library, and on the
libraries that cnnc-pack-images was linked with. Its version is that of the compiler, and it has
md5sums of all files.
"""
import gzip
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

# Installed files that the package lacks: Debian has the license; pkg-config another folder.
LEFT_OUT = {"share/doc/cnnc/LICENSE", "lib/pkgconfig/cnnc-host.pc"}
MORE = {"share/doc/cnnc/copyright", "share/doc/cnnc/changelog.Debian.gz"}
MANUALS = {"share/man/man1/cnnc.1", "share/man/man1/cnnc-pack-images.1"}
# A program, and the packages of Debian 12 and 13 whose libraries it wants.
PACK = "bin/cnnc-pack-images"
LIBRARIES = {"libc6": "libc6", "libjpeg": "libjpeg62-turbo", "libpng": "libpng16-16(?:t64)?"}
STRIPPED = {"bin/cnnc", PACK, "lib/cnnc/cudart/libcudart.so.13"}
# Kinds of files of which at least one must be there.
PARTS = ("bin/cnnc", "lib/libcnnc_host.a", "lib/cmake/cnnc/cnncConfig.cmake",
         "include/cnnc/host/cuda_runtime.h", "share/bash-completion/completions/cnnc",
         "share/zsh/vendor-completions/_cnnc", "share/fish/vendor_completions.d/cnnc.fish",
         "share/vim/vimfiles/syntax/cnn.vim", "share/doc/cnnc/reference.md",
         "share/doc/cnnc/frontend/OPTIONS.md", "share/doc/cnnc/examples/digits/digits.cnn")
faults = []


def run(*command, **options):
    result = subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                            **options)
    return result.returncode, result.stdout


def expect(condition, text):
    if not condition:
        faults.append(text)


def files_of(folder):
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if not path.is_dir()}


def is_same(a, b):
    if a.is_symlink() or b.is_symlink():
        return a.is_symlink() and b.is_symlink() and os.readlink(a) == os.readlink(b)
    return a.read_bytes() == b.read_bytes() and os.access(a, os.X_OK) == os.access(b, os.X_OK)


def check_files(usr, prefix):
    triplet = {name for name in files_of(usr) if re.match(r"lib/\S+-\S+/pkgconfig/\S+\.pc$", name)}
    expect(len(triplet) == 1, f"pkg-config has the files {triplet}")
    manuals = files_of(prefix) & MANUALS
    expect(("share/man/man1/cnnc-pack-images.1" in manuals) == (prefix / PACK).exists(),
           "cnnc-pack-images and its manual page are not installed together")
    wanted = files_of(prefix) - LEFT_OUT - manuals | MORE | triplet | \
        {f"{name}.gz" for name in manuals}
    for name in sorted(wanted ^ files_of(usr)):
        faults.append(f"{name} is {'missing' if name in wanted else 'not installed otherwise'}")
    for name in sorted(files_of(usr) & files_of(prefix) - STRIPPED):
        expect(is_same(usr / name, prefix / name), f"{name} differs from the installed file")
    expect(set(PARTS) <= files_of(usr), f"{set(PARTS) - files_of(usr)} are missing")


def check_compressed(usr, prefix, version):
    change = usr / "share/doc/cnnc/changelog.Debian.gz"
    manuals = [name for name in MANUALS if (prefix / name).exists()]
    for path in (change, *(usr / f"{name}.gz" for name in manuals)):
        head = path.read_bytes()[:10]
        expect(head[3] == 0 and head[4:8] == bytes(4) and head[8] == 2, f"{path}: not gzip -9n")
    for name in manuals:
        expect(gzip.decompress((usr / f"{name}.gz").read_bytes()) == (prefix / name).read_bytes(),
               f"{name} is another page")
    text = gzip.decompress(change.read_bytes()).decode()
    day = re.search(r'RELEASED "(.*)"', Path(sys.argv[0]).resolve().parents[2].joinpath(
        "ir/base/version.h").read_text())[1]
    _, date = run("date", "--utc", "-R", "-d", day)
    expect(text.startswith(f"cnnc ({version}) "), f"the changelog begins with {text[:30]}")
    expect(text.endswith(f">  {date}"), f"the changelog ends with {text[-60:]}")


def check_control(package, tree, version):
    fields = dict(re.findall(r"^(\S+): (.*)$", run("dpkg-deb", "-f", package)[1], re.MULTILINE))
    _, linked = run("readelf", "-d", tree / "usr" / PACK)
    wanted = [rf"{package} \(>= [^)]+\)" for library, package in LIBRARIES.items()
              if library == "libc6" or f"[{library}" in linked]
    expect(re.fullmatch(", ".join(wanted), fields.get("Depends", "")),
           f"it depends on {fields.get('Depends')}")
    expect(fields.get("Recommends") == "g++", f"it recommends {fields.get('Recommends')}")
    expect("nvidia-cuda-toolkit" in fields.get("Suggests", ""), "it does not suggest CUDA")
    expect(fields.get("Version") == version, f"its version is {fields.get('Version')}")
    expect(package.name == f"cnnc_{version}_{fields.get('Architecture')}.deb",
           f"its name is {package.name}")
    sums = (tree / "DEBIAN/md5sums").read_text()
    wanted = "".join(f"{hashlib.md5((tree / name).read_bytes()).hexdigest()}  {name}\n"
                     for name in sorted(files_of(tree)) if name.startswith("usr/")
                     and not (tree / name).is_symlink())
    expect(sorted(sums.splitlines()) == sorted(wanted.splitlines()), "md5sums are others")
    owners = {line.split()[1] for line in run("dpkg-deb", "-c", package)[1].splitlines()}
    expect(owners == {"root/root"}, f"files belong to {owners}")


def check_lintian(package):
    root = ["--allow-root"] if os.geteuid() == 0 else []
    status, said = run("lintian", *root, "--fail-on", "error,warning", package)
    expect(status == 0 and not re.search(r"^[EW]:", said, re.MULTILINE), f"lintian: {said}")


def main():
    build = Path(sys.argv[1]).resolve()
    for tool in ("cpack", "lintian", "dpkg-shlibdeps"):
        if shutil.which(tool) is None:
            print(f"no {tool} here: skipped")
            sys.exit(77)
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        status, said = run("cpack", "-G", "DEB", "-B", folder, cwd=build)
        if status != 0:
            sys.exit(said)
        package, = work.glob("*.deb")
        run("cmake", "--install", build, "--prefix", work / "prefix")
        run("dpkg-deb", "-R", package, work / "tree")
        usr = work / "tree/usr"
        own = run(usr / "bin/cnnc", "--version")[1].split()
        version = f"{own[1]}-0upstream1"
        check_files(usr, work / "prefix")
        check_compressed(usr, work / "prefix", version)
        check_control(package, work / "tree", version)
        check_lintian(package)
        count = len(files_of(usr))
    print(*faults, sep="\n", end="\n" if faults else "")
    print(f"{package.name}: {count} files, {len(faults)} faults")
    return 1 if faults else 0


sys.exit(main())
