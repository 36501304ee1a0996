"""The data sets that streams read. Facts about files, as their publishers give them."""

from merlin_cl.errors import unknown
from merlin_cl.streams.catalogue.entry import Download, Entry, Published

MNIST_NAMES = ("train-images-idx3", "train-labels-idx1", "t10k-images-idx3", "t10k-labels-idx1")


def _idx(folder: str, bases: tuple[str, ...], facts: tuple[tuple[int, str], ...]) -> tuple[Download, ...]:
    """The four files of a set in the form of MNIST; `facts` are the size and the md5 of each."""
    return tuple(
        Download(
            f"{folder}/{name}-ubyte.gz", tuple(f"{base}{name}-ubyte.gz" for base in bases), size, checksum=f"md5:{md5}"
        )
        for name, (size, md5) in zip(MNIST_NAMES, facts, strict=True)
    )


def _as_published(downloads: tuple[Download, ...]) -> tuple[Published, ...]:
    """Files that stay as they are fetched."""
    return tuple(Published(one.file.rpartition("/")[2], one.checksum) for one in downloads if one.checksum)


def _md5(**files: str) -> tuple[Published, ...]:
    return tuple(Published(name.replace("__", "."), f"md5:{digest}") for name, digest in files.items())


MNIST_FILES = _idx(
    "MNIST/raw",
    (
        "https://ossci-datasets.s3.amazonaws.com/mnist/",
        "https://storage.googleapis.com/cvdf-datasets/mnist/",
        "http://yann.lecun.com/exdb/mnist/",
    ),
    (
        (9_912_422, "f68b3c2dcbeaaa9fbdd348bbdeb94873"),
        (28_881, "d53e105ee54ea40749a09fcbcd1e9432"),
        (1_648_877, "9fb629c4189551a2d022fa330f9573f3"),
        (4_542, "ec29112dd5afa0611ce80d1b7f02629c"),
    ),
)
FASHION_FILES = _idx(
    "FashionMNIST/raw",
    (
        "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/",
        "https://raw.githubusercontent.com/zalandoresearch/fashion-mnist/master/data/fashion/",
    ),
    (
        (26_421_880, "8d4fb7e6c68d591d4c3dfef9ec88bf0d"),
        (29_515, "25c81989df183df01b3e8a0aad5dffbe"),
        (4_422_102, "bef4ecab320f06d8554ea6380940ec79"),
        (5_148, "bb300cfdad3c16e7a12a480ee83cd310"),
    ),
)

SVHN_FILES = tuple(
    Download(f"SVHN/{name}", (f"http://ufldl.stanford.edu/housenumbers/{name}",), size, checksum=f"md5:{md5}")
    for name, size, md5 in (
        ("train_32x32.mat", 182_040_794, "e26dedcc434d2e4c54c9b2d4a06d8373"),
        ("test_32x32.mat", 64_275_384, "eb5a983be6a315427106f1b164d9cef3"),
    )
)
GTSRB_BASE = "https://sid.erda.dk/public/archives/daaeac0d7ce1152aea9b61d9f1e19370/"

ENTRIES = (
    Entry(
        "mnist",
        "MNIST",
        "CC BY-SA 3.0",
        folders=("MNIST/raw", "mnist", "."),
        signs=("train-*-ubyte", "train-*-ubyte.[gx]z", "t10k-*-ubyte", "t10k-*-ubyte.[gx]z"),
        downloads=MNIST_FILES,
        published=_as_published(MNIST_FILES),
    ),
    Entry(
        "fashion-mnist",
        "Fashion-MNIST",
        "MIT",
        folders=("FashionMNIST/raw", "FashionMNIST", "fashion-mnist"),
        signs=("train-*-ubyte", "train-*-ubyte.gz", "t10k-*-ubyte", "t10k-*-ubyte.gz"),
        downloads=FASHION_FILES,
        published=_as_published(FASHION_FILES),
    ),
    Entry(
        "cifar10",
        "CIFAR-10",
        "none stated; for research, cite Krizhevsky 2009",
        folders=("cifar-10-batches-py", "."),
        signs=("data_batch_[1-5]", "test_batch"),
        downloads=(
            Download(
                "cifar-10-python.tar.gz",
                (
                    "https://www.cs.toronto.edu/~kriz/cifar-10-python.tar.gz",
                    "http://www.cs.toronto.edu/~kriz/cifar-10-python.tar.gz",
                ),
                170_498_071,
                checksum="md5:c58f30108f718f92721af3b95e74349a",
                unpack_into=".",
            ),
        ),
        published=_md5(
            data_batch_1="c99cafc152244af753f735de768cd75f",
            data_batch_2="d4bba439e000b95fd0a9bffe97cbabec",
            data_batch_3="54ebc095f3ab1f0389bbae665268c751",
            data_batch_4="634d18415352ddfa80567beed471001a",
            data_batch_5="482c414d41f54cd18b22e5b47cb7c3cb",
            test_batch="40351d587109b95175f43aff81a1287e",
        ),
    ),
    Entry(
        "cifar100",
        "CIFAR-100",
        "none stated; for research, cite Krizhevsky 2009",
        folders=("cifar-100-python", "."),
        signs=("train", "test"),
        downloads=(
            Download(
                "cifar-100-python.tar.gz",
                (
                    "https://www.cs.toronto.edu/~kriz/cifar-100-python.tar.gz",
                    "http://www.cs.toronto.edu/~kriz/cifar-100-python.tar.gz",
                ),
                169_001_437,
                checksum="md5:eb9058c3a382ffc7106e4002c42a8d85",
                unpack_into=".",
            ),
        ),
        published=_md5(train="16019d7e3df5f24257cddd939b257f8d", test="f0ef6b0ae62326f3e7ffdfab6717acfc"),
    ),
    Entry(
        "mini-imagenet",
        "mini-ImageNet",
        "ImageNet terms of access: non-commercial research and education",
        folders=("mini-imagenet", "miniimagenet", "MiniImageNet", "."),
        signs=("mini-imagenet-cache-*.pkl", "images/n*", "n????????/*"),
        by_hand=(
            "Its images are ImageNet's, which may be had on registration only. Register at https://image-net.org, fetch "
            "ILSVRC2012_img_train.tar (md5 1d675b47d978889d74fa0da5fadfb00e), and cut it to 84 x 84 with the split files "
            "train.csv, val.csv and test.csv of twitter-research/meta-learning-lstm (data/miniImagenet), for instance with "
            "https://github.com/yaoyao-liu/mini-imagenet-tools. Put the images into {folder}/images and the three csv files "
            "into {folder}; or put the three files mini-imagenet-cache-train.pkl, -val.pkl and -test.pkl into {folder}."
        ),
    ),
    Entry(
        "audiomnist",
        "AudioMNIST",
        "MIT",
        folders=("AudioMNIST/data", "AudioMNIST", "audiomnist/data", "audiomnist"),
        signs=("[0-9]*/[0-9]_*.wav",),
        downloads=(
            Download(
                "AudioMNIST-master.zip",
                ("https://github.com/soerenab/AudioMNIST/archive/refs/heads/master.zip",),
                980_000_000,
                unpack_into="AudioMNIST/data",
                sign="AudioMNIST/data/*/*.wav",
                members="AudioMNIST-master/data/",
            ),
        ),
    ),
    Entry(
        "notmnist",
        "notMNIST",
        "none stated (Y. Bulatov)",
        folders=("notMNIST/raw", "notMNIST/notMNIST_small", "notMNIST_small", "notMNIST", "notmnist"),
        signs=("t10k-images-*", "A/*.png"),
        downloads=(
            Download(
                "notMNIST_small.tar.gz",
                (
                    "http://yaroslavvb.com/upload/notMNIST/notMNIST_small.tar.gz",
                    "https://commondatastorage.googleapis.com/books1000/notMNIST_small.tar.gz",
                ),
                8_458_043,
                unpack_into="notMNIST",
                sign="notMNIST/notMNIST_small/A/*.png",
            ),
        ),
    ),
    Entry(
        "svhn",
        "SVHN",
        "none stated; non-commercial use, cite Netzer et al. 2011",
        folders=("SVHN", "svhn", "."),
        signs=("train_32x32.mat", "test_32x32.mat"),
        downloads=SVHN_FILES,
        published=_as_published(SVHN_FILES),
    ),
    Entry(
        "gtsrb",
        "GTSRB",
        "none stated; free of charge, cite Stallkamp et al. 2012",
        folders=("GTSRB", "gtsrb/GTSRB", "gtsrb"),
        signs=("train/*/*.png", "Final_Training/Images/*/*.ppm", "Training/*/*.ppm", "Final_Test/Images/*.ppm"),
        downloads=tuple(
            Download(name, (f"{GTSRB_BASE}{name}",), size, f"md5:{md5}", unpack_into=into, sign=f"GTSRB/{sign}")
            for name, size, md5, into, sign in (
                ("GTSRB-Training_fixed.zip", 187_490_228, "513f3c79a4c5141765e10e952eaa2478", ".", "Training/*"),
                (
                    "GTSRB_Final_Test_Images.zip",
                    88_978_620,
                    "c7e4e6327067d32654124b0fe9e82185",
                    ".",
                    "Final_Test/Images/*",
                ),
                ("GTSRB_Final_Test_GT.zip", 99_620, "fe31e9c9270bbcd7b84b7f21a9d9d9e5", "GTSRB", "GT-final_test.csv"),
            )
        ),
    ),
    Entry(
        "facescrub",
        "FaceScrub",
        "on request, for research; the photographs belong to their authors",
        folders=("FaceScrub", "facescrub"),
        signs=("*/*.jpg", "*/*.jpeg", "*/*.png"),
        by_hand=(
            "It is given on request only: ask at http://vintage.winklerbros.net/facescrub.html for the list of addresses, "
            "fetch the images, and put the faces of each person into a folder of that person's name: "
            "{folder}/<person>/<image>.jpg. The hundred people with most images are used."
        ),
    ),
)


def entry(name: str) -> Entry:
    """A data set by its name."""
    for one in ENTRIES:
        if one.name == name:
            return one
    raise unknown("data set", name, [one.name for one in ENTRIES])
