"""The data sets that streams read. Facts about files: sizes and MD5 as their publishers give them.

SHA-256 is our own, computed from files that have the publisher's MD5. Where we have no such file the MD5 stays, which guards
against damage but hardly against malice: those of SVHN, of GTSRB and of the archives of CIFAR. AudioMNIST and notMNIST are
published without any, and are fetched over https alone.
"""

from merlin_cl.errors import unknown
from merlin_cl.streams.catalogue.entry import Archive, Download, Entry, PublishedFile

MNIST_NAMES = ("train-images-idx3", "train-labels-idx1", "t10k-images-idx3", "t10k-labels-idx1")


def _idx(folder: str, bases: tuple[str, ...], facts: tuple[tuple[int, str], ...]) -> tuple[Download, ...]:
    """The four files of a set in the form of MNIST; `facts` are the size and the SHA-256 of each."""
    return tuple(
        Download(
            f"{folder}/{name}-ubyte.gz", tuple(f"{base}{name}-ubyte.gz" for base in bases), size, f"sha256:{sha256}"
        )
        for name, (size, sha256) in zip(MNIST_NAMES, facts, strict=True)
    )


def _as_published(downloads: tuple[Download, ...]) -> tuple[PublishedFile, ...]:
    """Files that stay as they are fetched."""
    return tuple(
        PublishedFile(one.file.rpartition("/")[2], one.size, one.checksum) for one in downloads if one.checksum
    )


def _published(*files: tuple[str, int, str]) -> tuple[PublishedFile, ...]:
    """Files by name, size and SHA-256."""
    return tuple(PublishedFile(name, size, f"sha256:{sha256}") for name, size, sha256 in files)


MNIST_FILES = _idx(
    "MNIST/raw",
    (
        "https://ossci-datasets.s3.amazonaws.com/mnist/",
        "https://storage.googleapis.com/cvdf-datasets/mnist/",
        "http://yann.lecun.com/exdb/mnist/",
    ),
    (
        (9_912_422, "440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609"),
        (28_881, "3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c"),
        (1_648_877, "8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6"),
        (4_542, "f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6"),
    ),
)
FASHION_FILES = _idx(
    "FashionMNIST/raw",
    (
        "https://raw.githubusercontent.com/zalandoresearch/fashion-mnist/master/data/fashion/",
        "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/",
    ),
    (
        (26_421_880, "3aede38d61863908ad78613f6a32ed271626dd12800ba2636569512369268a84"),
        (29_515, "a04f17134ac03560a47e3764e11b92fc97de4d1bfaf8ba1a3aa29af54cc90845"),
        (4_422_102, "346e55b948d973a97e58d2351dde16a484bd415d4595297633bb08f03db6a073"),
        (5_148, "67da17c76eaffca5446c3361aaab5c3cd6d1c2608764d35dfb1850b086bf8dd5"),
    ),
)

SVHN_FILES = tuple(
    Download(
        f"SVHN/{name}",
        (f"https://ufldl.stanford.edu/housenumbers/{name}", f"http://ufldl.stanford.edu/housenumbers/{name}"),
        size,
        f"md5:{md5}",
    )
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
                archive=Archive(".", files=20, size=187_000_000),
            ),
        ),
        published=_published(
            ("data_batch_1", 31_035_704, "54636561a3ce25bd3e19253c6b0d8538147b0ae398331ac4a2d86c6d987368cd"),
            ("data_batch_2", 31_035_320, "766b2cef9fbc745cf056b3152224f7cf77163b330ea9a15f9392beb8b89bc5a8"),
            ("data_batch_3", 31_035_999, "0f00d98ebfb30b3ec0ad19f9756dc2630b89003e10525f5e148445e82aa6a1f9"),
            ("data_batch_4", 31_035_696, "3f7bb240661948b8f4d53e36ec720d8306f5668bd0071dcb4e6c947f78e9682b"),
            ("data_batch_5", 31_035_623, "d91802434d8376bbaeeadf58a737e3a1b12ac839077e931237e0dcd43adcb154"),
            ("test_batch", 31_035_526, "f53d8d457504f7cff4ea9e021afcf0e0ad8e24a91f3fc42091b8adef61157831"),
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
                archive=Archive(".", files=20, size=187_000_000),
            ),
        ),
        published=_published(
            ("train", 155_249_918, "735e79b04f092ca3d2e6d07f368c0a7d70d48c48d28865950cc24454cf45129b"),
            ("test", 31_049_707, "4b67687d9933c4db8f0831104447f15b93774f4f464bd0516f0f0f2ac83b7864"),
        ),
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
                1_500_000_000,
                archive=Archive(
                    "AudioMNIST/data",
                    files=40_000,
                    size=3_000_000_000,
                    sign="AudioMNIST/data/*/*.wav",
                    members="AudioMNIST-master/data/",
                ),
                exact=False,
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
                    "https://commondatastorage.googleapis.com/books1000/notMNIST_small.tar.gz",
                    "https://yaroslavvb.com/upload/notMNIST/notMNIST_small.tar.gz",
                ),
                8_458_043,
                archive=Archive("notMNIST", files=20_000, size=40_000_000, sign="notMNIST/notMNIST_small/A/*.png"),
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
        downloads=(
            Download(
                "GTSRB-Training_fixed.zip",
                (f"{GTSRB_BASE}GTSRB-Training_fixed.zip",),
                187_490_228,
                "md5:513f3c79a4c5141765e10e952eaa2478",
                Archive(".", files=30_000, size=1_000_000_000, sign="GTSRB/Training/*"),
            ),
            Download(
                "GTSRB_Final_Test_Images.zip",
                (f"{GTSRB_BASE}GTSRB_Final_Test_Images.zip",),
                88_978_620,
                "md5:c7e4e6327067d32654124b0fe9e82185",
                Archive(".", files=15_000, size=500_000_000, sign="GTSRB/Final_Test/Images/*"),
            ),
            Download(
                "GTSRB_Final_Test_GT.zip",
                (f"{GTSRB_BASE}GTSRB_Final_Test_GT.zip",),
                99_620,
                "md5:fe31e9c9270bbcd7b84b7f21a9d9d9e5",
                Archive("GTSRB", files=10, size=1_000_000, sign="GTSRB/GT-final_test.csv"),
            ),
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
