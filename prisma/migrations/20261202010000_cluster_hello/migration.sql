-- AlterTable
ALTER TABLE "cluster" ADD COLUMN     "hello_at" TIMESTAMPTZ(3),
ADD COLUMN     "kinds" TEXT[],
ADD COLUMN     "protocol_max" INTEGER,
ADD COLUMN     "protocol_min" INTEGER,
ADD COLUMN     "release" TEXT;
