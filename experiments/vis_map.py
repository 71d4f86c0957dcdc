"""Draw a map over pieces and payloads with the sizes at which one put per piece beats packing."""

import gasmeter as gm

experiment = gm.Experiment(
    name="vis_map",
    title="Strided puts: packed into messages, or a put per piece",
    question=(
        "Packing copies every byte twice more, a put per piece costs an operation per piece. Up to which piece is"
        " packing the better, on each network?"
    ),
    kernel="vis",
    op="strided-put",
    conduit=("ibv", "udp"),
    sizes="4K,16K,64K,256K",
    options={"piece": (16, 64, 256, 1024, 4096), "mechanism": "pack"},
    against={"mechanism": "pieces"},
    time_s=0.2,
    quick={"sizes": "4K,64K"},
    plots=(gm.Plot(kind="crossover", title="Strided puts at half density: pack over a put per piece"),),
)
