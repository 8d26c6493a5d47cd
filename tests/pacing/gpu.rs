//! Waiting on a real device; lavapipe will do.
#![expect(clippy::disallowed_methods, reason = "pacing is used without the renderer's factory")]

use std::time::{Duration, Instant};

use praxis::pacing::{DeviceWaiter, FrameWait, InFlightRing, SubmissionWaiter, detect_blocking_submit};

struct Gpu {
    device: wgpu::Device,
    queue: wgpu::Queue,
    info: wgpu::AdapterInfo,
}

fn gpu(backends: wgpu::Backends) -> Gpu {
    let mut descriptor = wgpu::InstanceDescriptor::new_without_display_handle();
    descriptor.backends = backends;
    descriptor.backend_options.noop.enable = backends.contains(wgpu::Backends::NOOP);
    let instance = wgpu::Instance::new(descriptor);
    let adapter = pollster::block_on(instance.request_adapter(&wgpu::RequestAdapterOptions::default()))
        .expect("this test needs a Vulkan device: install Mesa's software driver");
    let (device, queue) = pollster::block_on(adapter.request_device(&wgpu::DeviceDescriptor::default()))
        .expect("an adapter gives a device with default limits");
    Gpu { device, queue, info: adapter.get_info() }
}

/// A dispatch of some ms.
fn submit_work(gpu: &Gpu, pipeline: &wgpu::ComputePipeline) -> wgpu::SubmissionIndex {
    let mut encoder = gpu.device.create_command_encoder(&Default::default());
    {
        let mut pass = encoder.begin_compute_pass(&Default::default());
        pass.set_pipeline(pipeline);
        pass.dispatch_workgroups(1, 1, 1);
    }
    gpu.queue.submit([encoder.finish()])
}

fn work(gpu: &Gpu) -> wgpu::ComputePipeline {
    let source = "
        var<workgroup> cell: u32;
        @compute @workgroup_size(1) fn main() {
            var value = cell;
            for (var step = 0u; step < 1000000u; step++) { value = value * 1664525u + 1013904223u + cell; }
            cell = value;
        }";
    let module = gpu.device.create_shader_module(wgpu::ShaderModuleDescriptor {
        label: None,
        source: wgpu::ShaderSource::Wgsl(source.into()),
    });
    gpu.device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
        label: None,
        layout: None,
        module: &module,
        entry_point: Some("main"),
        compilation_options: Default::default(),
        cache: None,
    })
}

#[test]
fn pacing_gpu_both_waits_finish_every_frame() {
    let gpu = gpu(wgpu::Backends::PRIMARY);
    let pipeline = work(&gpu);
    for wait in FrameWait::ALL {
        let mut waiter = DeviceWaiter::new(&gpu.device, *wait);
        let mut ring = InFlightRing::new(2);
        for frame_idx in 0..6 {
            let slot = ring.wait_for_slot(&mut waiter).expect("the device is well");
            assert_eq!(slot.frame_idx, frame_idx);
            ring.push(submit_work(&gpu, &pipeline)).expect("a slot was waited for");
            assert!(ring.n_in_flight() <= 2);
        }
        ring.drain(&mut waiter).expect("the device is well");
        assert_eq!(ring.take_finished(), 0..6, "{wait}");
        let status = gpu.device.poll(wgpu::PollType::Poll).expect("the device is well");
        assert!(status.is_queue_empty(), "{wait}: something still runs after the drain");
    }
}

#[test]
fn pacing_gpu_a_wait_returns_only_when_the_work_is_done() {
    let gpu = gpu(wgpu::Backends::PRIMARY);
    let buffer = gpu.device.create_buffer(&wgpu::BufferDescriptor {
        label: None,
        size: 16,
        usage: wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST,
        mapped_at_creation: false,
    });
    for (wait, byte) in [(FrameWait::Block, 7u8), (FrameWait::Spin, 9)] {
        let pipeline = work(&gpu);
        submit_work(&gpu, &pipeline);
        gpu.queue.write_buffer(&buffer, 0, &[byte; 16]);
        let submission = gpu.queue.submit([]);
        // Called after the submit, so it has fired when the wait for that submission returns.
        buffer.map_async(wgpu::MapMode::Read, .., |mapped| mapped.expect("the buffer can be mapped"));
        DeviceWaiter::new(&gpu.device, wait).wait(&submission).expect("the device is well");
        assert_eq!(&*buffer.get_mapped_range(..).expect("it is mapped by now"), &[byte; 16], "{wait}");
        buffer.unmap();
    }
}

#[test]
fn pacing_gpu_another_devices_submission_is_an_error_not_a_hang() {
    let (busy, idle) = (gpu(wgpu::Backends::PRIMARY), gpu(wgpu::Backends::PRIMARY));
    let last = (0..4).map(|_| busy.queue.submit([])).next_back().expect("four submits");
    for wait in FrameWait::ALL {
        let error = DeviceWaiter::new(&idle.device, *wait).wait(&last).expect_err("it was never submitted there");
        let message = error.to_string();
        assert!(message.starts_with(&format!("waiting for a frame on the GPU failed ({wait} wait): ")), "{message}");
    }
    DeviceWaiter::new(&busy.device, FrameWait::Block).wait(&last).expect("the device is well");
}

#[test]
fn pacing_gpu_blocking_submit_is_detected_in_bounded_time() {
    let gpu = gpu(wgpu::Backends::PRIMARY);
    detect_blocking_submit(&gpu.device, &gpu.queue).expect("the device is well");
    let started = Instant::now();
    let found = detect_blocking_submit(&gpu.device, &gpu.queue).expect("the device is well");
    let took = started.elapsed();
    println!("{}: {found:?} in {took:?}", gpu.info.name);
    // Twice the promised bound: other tests share the cores.
    assert!(took < Duration::from_millis(600), "it took {took:?}");
    assert!(found.kernel_ns >= 500_000, "{found:?}");
    if gpu.info.name.starts_with("llvmpipe") {
        assert!(found.blocks, "lavapipe's submit is known to block: {found:?}");
    }
}

#[test]
fn pacing_gpu_the_noop_backend_does_not_block() {
    let gpu = gpu(wgpu::Backends::NOOP);
    let found = detect_blocking_submit(&gpu.device, &gpu.queue).expect("the device is well");
    assert!(!found.blocks, "{found:?}");
}

#[test]
fn pacing_gpu_waiting_before_submit_books_the_gpus_time_as_wait() {
    let gpu = gpu(wgpu::Backends::PRIMARY);
    let pipeline = work(&gpu);
    let mut waiter = DeviceWaiter::new(&gpu.device, FrameWait::Block);
    waiter.wait(&submit_work(&gpu, &pipeline)).expect("the device is well");
    let mut ring = InFlightRing::new(2);
    let (mut waits_ns, mut submits_ns) = (Vec::new(), Vec::new());
    for _ in 0..8 {
        let slot = ring.wait_for_slot(&mut waiter).expect("the device is well");
        let before_submit_ns = ring.wait_newest_before_submit(&mut waiter).expect("the device is well");
        let started = Instant::now();
        let submission = submit_work(&gpu, &pipeline);
        submits_ns.push(started.elapsed().as_nanos() as u64);
        ring.push(submission).expect("a slot was waited for");
        waits_ns.push(slot.waited_ns + before_submit_ns);
    }
    ring.drain(&mut waiter).expect("the device is well");
    let median = |values: &mut Vec<u64>| {
        values.sort_unstable();
        values[values.len() / 2]
    };
    let (wait_ns, submit_ns) = (median(&mut waits_ns), median(&mut submits_ns));
    assert!(submit_ns < wait_ns, "submit {submit_ns} ns, wait {wait_ns} ns");
}

#[test]
fn pacing_gpu_a_destroyed_device_ends_every_wait() {
    let gpu = gpu(wgpu::Backends::PRIMARY);
    let pipeline = work(&gpu);
    for wait in FrameWait::ALL {
        let mut waiter = DeviceWaiter::new(&gpu.device, *wait);
        let mut ring = InFlightRing::new(2);
        for _ in 0..2 {
            ring.wait_for_slot(&mut waiter).expect("the device is well");
            ring.push(submit_work(&gpu, &pipeline)).expect("a slot was waited for");
        }
        if *wait == FrameWait::Spin {
            gpu.device.destroy();
        }
        // What was submitted is finished or given up; neither may hang or panic.
        let drained = ring.drain(&mut waiter);
        println!("{wait}: {drained:?}");
        assert!(drained.is_err() || ring.n_in_flight() == 0);
    }
}
