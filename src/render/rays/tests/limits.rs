//! Rays that can't be had.

use super::*;

#[test]
fn rays_that_cannot_be_had_are_a_warning_and_the_picture_is_drawn_without() {
    let gpu = Gpu::open(&GpuOptions { is_noop: true, is_validating: true, ..Default::default() }).expect("no-op");
    let mut scene = load(Path::new("alpha"));
    let warning = drawn_without_rays(&gpu, &mut scene, RayBackend::Query);
    assert!(warning.contains("no ray queries") && warning.contains("--ray-backend bvh"), "{warning}");
}

/// The adapter's own limits, made small: each is a warning that names it, and the picture is drawn without shadows.
#[test]
fn a_limit_exceeded_is_a_warning_and_the_picture_is_drawn_without() {
    let has_ray_queries = gpu().has_ray_queries();
    let small =
        |limits: fn(&mut wgpu::Limits)| GpuOptions { is_validating: true, limits: Some(limits), ..Default::default() };
    let cases: [(RayBackend, GpuOptions, &str); 4] = [
        (RayBackend::Bvh, small(|limits| limits.max_storage_buffer_binding_size = 1 << 20), "of its rays"),
        (RayBackend::Query, small(|limits| limits.max_tlas_instance_count = 1), "allows 1"),
        (RayBackend::Query, small(|limits| limits.max_blas_primitive_count = 300), "allows 100"),
        // Not looked at by us: what wgpu itself refuses is caught.
        (RayBackend::Query, small(|limits| limits.max_blas_geometry_count = 0), "could not be built"),
    ];
    for (backend, options, named) in cases {
        if backend == RayBackend::Query && !has_ray_queries {
            eprintln!("skipped: the adapter has no ray queries");
            continue;
        }
        let gpu = Gpu::open(&options).expect("less is granted");
        let mut scene = many_movers();
        let warning = drawn_without_rays(&gpu, &mut scene, backend);
        assert!(warning.contains(named) && warning.contains("casts no shadows"), "{warning}");
    }
}

/// What is too much for one bottom level of what stands still is cut into more of them.
#[test]
fn what_stands_still_is_cut_to_the_adapters_limit() {
    let limits = |limits: &mut wgpu::Limits| limits.max_blas_primitive_count = 15;
    let gpu =
        Gpu::open(&GpuOptions { is_validating: true, limits: Some(limits), ..Default::default() }).expect("opens");
    if !gpu.has_ray_queries() {
        eprintln!("skipped: the adapter has no ray queries");
        return;
    }
    let mut scene = load(Path::new("cornell"));
    let mut tracer = Tracer::on(gpu, &mut scene, RayBackend::Query);
    compare("cornell in chunks of 5", &mut scene, &mut tracer, 10_000, 12);
}

/// wgpu refuses what goes beyond a part of the memory that the driver grants: here a part that has room for a device and for little more.
#[test]
fn too_little_memory_is_caught_and_said() {
    let open = |percent| {
        let options = GpuOptions { is_validating: true, memory_percent: Some(percent), ..Default::default() };
        Gpu::open(&options).ok().filter(|gpu| gpu.check_errors().is_ok())
    };
    if open(0).is_some() {
        eprintln!("skipped: the driver does not say how much memory there is");
        return;
    }
    let gpu = (1..=100).find_map(open).expect("all of the memory suffices for a device");
    let most = gpu.device.limits().max_buffer_size & !3;
    let make = || (0..100).map(|_| gpu.factory.buffer("much", most, wgpu::BufferUsages::STORAGE)).collect::<Vec<_>>();
    let Err(reason) = gpu.catch_errors(make) else { panic!("memory for 100 × {most} bytes was found") };
    assert!(reason.contains("too little memory"), "{reason}");
    gpu.check_errors().expect("nothing that nobody caught");
}

/// A ball with more triangles than the limits above allow, and two that move.
fn many_movers() -> Scene {
    let folder = SceneFolder::new();
    folder.add_sphere("ball", 100);
    let nodes = "(name: \"a\", model: \"ball\"), (name: \"b\", model: \"ball\", motion: Spin(axis: (0, 1, 0), rpm: 9)), \
                 (name: \"c\", model: \"ball\", translation: (3, 0, 0), motion: Spin(axis: (0, 1, 0), rpm: 9))";
    let still = "Still(position: (0, 0, 9), target: (0, 0, 0), fov_y_deg: 50)";
    folder.scene("()", still, &["ball"], nodes)
}

/// Draws a frame; returns the warning.
fn drawn_without_rays(gpu: &Gpu, scene: &mut Scene, backend: RayBackend) -> String {
    let options = RenderOptions {
        size_px: [48, 32],
        n_samples: 4,
        tonemap: Tonemap::Agx,
        exposure_ev100: None,
        rays: RayMode::Edge,
        ray_backend: Some(backend),
        has_column_map: true,
        n_frames_in_flight: 2,
    };
    let mut renderer = Renderer::new(gpu, scene, &options).expect("a renderer all the same");
    assert_eq!((renderer.ray_mode(), renderer.ray_backend()), (RayMode::Off, None));
    let [warning] = renderer.warnings() else { panic!("{:?}", renderer.warnings()) };
    let warning = warning.clone();
    renderer.prepare_frame(scene, 0);
    let mut encoder = gpu.device.create_command_encoder(&Default::default());
    renderer.encode(&mut encoder).expect("the upload ring has room");
    gpu.queue.submit([encoder.finish()]);
    gpu.check_errors().expect("no validation error");
    warning
}
